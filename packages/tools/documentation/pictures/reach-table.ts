import type { NetworkData } from "./network-data.js";
import type { Reach } from "./reachable-ports.js";
import type { Shape, Tone } from "./svg.js";
import { wrapWords } from "./text-width.js";

const head = 118;
const lineHeight = 13;
const size = 10;
const heading = "Ports that may be reached (TCP, unless another protocol is named)";

/** Source of connections: a row of the table. */
interface Source {
  readonly lines: readonly string[];
  readonly keys: readonly string[];
  readonly outside: boolean;
}

/** Target of connections: a column of the table. */
interface Target {
  readonly key: string;
  readonly lines: readonly string[];
}

/** Returns the targets: load balancers in the order of their paths, then machine groups. */
function targetsOf({ machines, groups, reachable }: NetworkData): Target[] {
  const reached = new Set(reachable.map(({ to }) => to));
  const balancers = machines.paths.flatMap(({ box }) => {
    const key = box?.shows.find((name) => reached.has(name));
    return box && key !== undefined ? [{ key, lines: box.lines.slice(0, 2) }] : [];
  });
  return [...balancers, ...groups.map(({ key, title }) => ({ key, lines: title.split(": ") }))];
}

function sourcesOf({ clients, groups, reachable, ranges }: NetworkData): Source[] {
  const keys = [...new Set(reachable.map(({ from }) => from))];
  const groupKeys = groups.map(({ key }) => key);
  const others = keys.filter((key) => !clients.includes(key) && !groupKeys.includes(key));
  return [
    { lines: ["Clients", ...clients], keys: clients, outside: true },
    ...others.map((key) => ({
      lines: [ranges[key] ?? "Router", ...(key in ranges ? [key] : [])],
      keys: [key],
      outside: false,
    })),
    ...groups.map(({ key, title }) => ({ lines: title.split(": "), keys: [key], outside: false })),
  ].filter(({ keys: some }) => reachable.some(({ from }) => some.includes(from)));
}

const toneOfPorts = (ports: readonly string[]): Tone => {
  if (ports.includes("6443")) return "blue";
  return ports.includes("22") ? "amber" : "violet";
};

/** Draws one cell of the table: the ports, or nothing. */
function drawCell(
  cell: { readonly x: number; readonly y: number; readonly width: number; readonly height: number },
  found: readonly Reach[],
  lines: readonly string[],
  outside: boolean,
): Shape[] {
  const ports = found.flatMap((one) => one.ports);
  if (ports.length === 0)
    return [
      {
        kind: "label",
        x: cell.x + cell.width / 2,
        y: cell.y + cell.height / 2 + 4,
        text: "–",
        size,
        color: "faint",
        anchor: "middle",
      },
    ];
  const top = cell.y + (cell.height - lines.length * lineHeight) / 2;
  return [
    {
      kind: "box",
      ...cell,
      tone: outside ? toneOfPorts(ports) : "neutral",
      corner: 4,
      shows: found.flatMap(({ shows }) => shows),
    },
    ...lines.map((text, index): Shape => ({
      kind: "label",
      x: cell.x + cell.width / 2,
      y: top + index * lineHeight + 10,
      text,
      size,
      anchor: "middle",
    })),
  ];
}

/**
 * Draws a table of the ports that each source reaches at each target. Returns the shapes and the
 * lower end of the table.
 */
export function drawReachTable(
  data: NetworkData,
  place: { readonly x: number; readonly y: number; readonly width: number },
): { readonly shapes: readonly Shape[]; readonly end: number } {
  const [targets, sources] = [targetsOf(data), sourcesOf(data)];
  const step = (place.width - head) / targets.length;
  const columns = targets.map((target, index) => ({
    target,
    x: place.x + head + index * step + 2,
    width: step - 4,
  }));
  const shapes: Shape[] = [
    { kind: "label", x: place.x, y: place.y, text: heading, size: 11.5, bold: true },
    { kind: "label", x: place.x, y: place.y + 32, text: "from", size: 10.5, color: "faint" },
    ...columns.flatMap(({ target, x, width }) =>
      target.lines.map((text, index): Shape => ({
        kind: "label",
        x: x + width / 2,
        y: place.y + index * 13 + (target.lines.length === 1 ? 32 : 26),
        ...(index === 0
          ? { text, size: 10.5, bold: true, anchor: "middle" }
          : { text, size: 9.5, color: "faint", anchor: "middle" }),
      })),
    ),
  ];
  let y = place.y + 48;
  for (const { lines, keys, outside } of sources) {
    const cells = columns.map(({ target, x, width }) => {
      const found = data.reachable.filter(
        ({ from, to }) => keys.includes(from) && to === target.key,
      );
      const ports = [...new Set(found.flatMap((one) => one.ports))];
      return { x, width, found, lines: wrapWords(ports, width - 8, { size, separator: ", " }) };
    });
    const most = Math.max(lines.length, ...cells.map((cell) => cell.lines.length));
    const height = most * lineHeight + 10;
    const top = y + (height - lines.length * lineHeight) / 2;
    lines.forEach((text, index) => {
      shapes.push({
        kind: "label",
        x: place.x,
        y: top + index * lineHeight + 10,
        text,
        size: index === 0 ? 11 : 9.5,
        bold: index === 0,
        color: index === 0 ? "ink" : "faint",
      });
    });
    for (const cell of cells)
      shapes.push(
        ...drawCell({ x: cell.x, y, width: cell.width, height }, cell.found, cell.lines, outside),
      );
    y += height + 4;
  }
  return { shapes, end: y };
}
