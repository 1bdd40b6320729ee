import { renderPicture, type Shape, type Tone } from "../../tools/documentation/pictures/svg.js";
import { estimateTextWidth } from "../../tools/documentation/pictures/text-width.js";
import type { BenchComparison } from "./records.js";
import { getMedian } from "./statistics.js";

const [width, margin, gap, seconds, size] = [720, 20, 8, 44, 11];
const bar = { height: 10, step: 12 };
const tones: readonly Tone[] = ["neutral", "blue", "amber", "violet"];

/** Draws the names of the columns in the colours of their bars. */
function drawLegend(columns: BenchComparison["columns"], left: number): Shape[] {
  let x = left;
  return columns.flatMap(({ name }, index): Shape[] => {
    const text = `${name}, s`;
    const [place, tone] = [x, tones[index] ?? "neutral"];
    x += estimateTextWidth(text, size) + 40;
    return [
      { kind: "box", x: place, y: margin, width: 12, height: 12, corner: 3, tone, fill: "solid" },
      { kind: "label", x: place + 18, y: margin + 10, text, size },
    ];
  });
}

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
  const left = margin + Math.max(...ordered.map((name) => estimateTextWidth(name, size))) + gap;
  const scale = (width - left - margin - seconds) / most;
  const step = columns.length * bar.step + gap;
  const top = margin + 30;
  const bars = ordered.flatMap((name, index): Shape[] => {
    const y = top + index * step;
    const middle = y + (columns.length * bar.step) / 2;
    return [
      { kind: "label", x: left - gap, y: middle + 3, text: name, size, anchor: "end" },
      ...columns.flatMap((_, at): Shape[] => {
        const [value, place] = [of(name, at), y + at * bar.step];
        const area = { x: left, y: place, width: value * scale, height: bar.height, corner: 2 };
        return [
          { kind: "box", ...area, tone: tones[at] ?? "neutral", fill: "solid" },
          {
            kind: "label",
            x: left + value * scale + 5,
            y: place + 9,
            text: value.toFixed(1),
            size: 9.5,
            color: "faint",
          },
        ];
      }),
    ];
  });
  const described = ordered.map((name) => {
    const values = columns.map((column, at) => `${column.name} ${of(name, at).toFixed(1)} s`);
    return `${name}: ${values.join(", ")}.`;
  });
  return renderPicture({
    title: "Seconds until each moment of an `up`",
    description: described.join(" "),
    width,
    height: top + ordered.length * step + margin - gap,
    shapes: [...drawLegend(columns, left), ...bars],
  });
}
