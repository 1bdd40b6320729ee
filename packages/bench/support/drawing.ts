import type { BenchComparison } from "./records.js";
import { getMedian } from "./statistics.js";

const [margin, labels, row, width] = [16, 190, 22, 900];
const colors = ["#8a8a8a", "#2a6fdb", "#d97706"];

const escaped = (text: string): string =>
  text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");

const text = (x: number, y: number, content: string, more = ""): string =>
  `<text x="${x}" y="${y}" font-family="sans-serif" font-size="12" ${more}>${escaped(content)}</text>`;

/**
 * Draws an SVG with a bar for each moment and column. The bar's length is the median of the seconds
 * until the moment was reached. Pure.
 */
export function drawPhases({ columns }: Pick<BenchComparison, "columns">): string {
  const names = [...new Set(columns.flatMap(({ runs }) => runs.flatMap(Object.keys)))];
  const of = (name: string, column: number): number =>
    getMedian((columns[column]?.runs ?? []).flatMap((run) => run[name] ?? []));
  const ordered = names.sort((one, other) => of(one, 0) - of(other, 0));
  const most = Math.max(1, ...ordered.flatMap((name) => columns.map((_, at) => of(name, at))));
  const scale = (width - labels - 4 * margin) / most;
  const height = (row * columns.length) / 2 + 8;
  const bars = ordered.flatMap((name, index) => {
    const top = 3 * margin + index * height;
    return [
      text(labels, top + height / 2, name, 'text-anchor="end"'),
      ...columns.map((_, at) => {
        const [seconds, y] = [of(name, at), top + (at * row) / 2];
        const long = Math.round(seconds * scale);
        return (
          `<rect x="${labels + 8}" y="${y}" width="${long}" height="${row / 2 - 1}" fill="${colors[at] ?? "#000"}"/>` +
          text(labels + 12 + long, y + row / 2 - 2, seconds.toFixed(1), 'fill="#555"')
        );
      }),
    ];
  });
  const legend = columns.map(({ name }, at) =>
    text(labels + 8 + at * 160, margin + 8, `${name}, s`, `fill="${colors[at] ?? "#000"}"`),
  );
  const tall = Math.round(3 * margin + ordered.length * height + margin);
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${tall}" viewBox="0 0 ${width} ${tall}">
<rect width="100%" height="100%" fill="#fff"/>
${[...legend, ...bars].join("\n")}
</svg>
`;
}
