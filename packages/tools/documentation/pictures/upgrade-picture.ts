import type { ClusterSpec } from "../../../../components/config/cluster-spec.js";
import { planCluster } from "../../../../components/plan/cluster-plan.js";
import { clusterName } from "./registered-cluster.js";
import type { Area, Picture, Shape, Tone } from "./svg.js";
import type { UpgradedResource } from "./upgrade-steps.js";

const [width, margin, names, inset] = [720, 20, 132, 7];
const row = { height: 32, gap: 6, group: 14 };
const top = margin + 40;

/** Row of the picture: a machine, or the objects in Kubernetes. */
interface Lane {
  readonly title: string;
  readonly note?: string;
  readonly group: string;
  readonly cells: readonly Cell[];
}

interface Cell {
  readonly step: number;
  readonly lines: readonly string[];
  readonly tone: Tone;
  readonly shows: readonly string[];
}

/** Words for the steps of scripts. */
const works: Readonly<Record<string, Pick<Cell, "lines" | "tone">>> = {
  prepare: { lines: ["packages", "and images"], tone: "neutral" },
  member: { lines: ["upgrade"], tone: "blue" },
  init: { lines: ["upgrade"], tone: "blue" },
  join: { lines: ["upgrade"], tone: "blue" },
};

function scriptCell({ name, step }: UpgradedResource): Cell {
  const work = works[name.split("-").at(-1) ?? ""];
  if (!work) throw new Error(`${name}: the picture has no words for this script`);
  return { ...work, step, shows: [name] };
}

/** Returns one cell for all objects that change in the same step. */
function objectCells(objects: readonly UpgradedResource[]): Cell[] {
  const steps = [...new Set(objects.map(({ step }) => step))];
  return steps.map((step) => ({
    step,
    lines: ["update"],
    tone: "violet",
    shows: objects.filter((one) => one.step === step).map(({ name }) => name),
  }));
}

/** Returns the rows: machines in the order of the plan, then the objects in Kubernetes. */
function lanesOf(spec: ClusterSpec, resources: readonly UpgradedResource[]): Lane[] {
  const { groups, separate } = planCluster(spec);
  const machines = [...separate, ...groups].flatMap(({ component, machines: planned }) =>
    planned.map(({ name, position }): Lane => {
      const prefix = `${clusterName}-${component}-${String(position)}-`;
      const cells = resources.filter((one) => one.name.startsWith(prefix)).map(scriptCell);
      return { title: name.slice(clusterName.length + 1), group: component, cells };
    }),
  );
  const objects = resources.filter(({ type }) => type.startsWith("kubernetes:"));
  const note = "cloud controller, CSI";
  return [
    ...machines,
    { title: "Add-ons", note, group: "objects", cells: objectCells(objects) },
  ].filter(({ cells }) => cells.length > 0);
}

/** Returns the upper end of each row. There is more space between groups. */
function topsOf(lanes: readonly Lane[]): number[] {
  let y = top;
  return lanes.map(({ group }, index) => {
    const before = lanes[index - 1];
    if (before) y += row.height + (before.group === group ? row.gap : row.group);
    return y;
  });
}

/** Cell with its place. */
interface PlacedCell extends Cell {
  readonly area: Area;
}

const middleOf = ({ y, height }: Area): number => y + height / 2;

/** Draws an arrow from an upgrade to a change that begins after the upgrade. */
function drawWait({ area: from }: PlacedCell, { area: to, tone }: PlacedCell): Shape {
  const start = { x: from.x + from.width, y: middleOf(from) };
  const column = to.x - inset;
  // Below a machine of the same step, only the edge of the column is free.
  const points =
    tone === "violet"
      ? [
          { x: column, y: start.y },
          { x: column, y: middleOf(to) },
          { x: to.x, y: middleOf(to) },
        ]
      : [
          { x: to.x + to.width / 2, y: start.y },
          { x: to.x + to.width / 2, y: to.y },
        ];
  return { kind: "line", tone: "neutral", points: [start, ...points], arrow: true };
}

/** Draws the arrows from each upgrade to the changes of the next step. */
function drawWaits(cells: readonly PlacedCell[]): Shape[] {
  return cells
    .filter(({ tone }) => tone === "blue")
    .flatMap((cell) =>
      cells
        .filter((next) => next.step === cell.step + 1 && next.area.y > cell.area.y)
        .map((next) => drawWait(cell, next)),
    );
}

function drawCell({ area, tone, lines, shows }: PlacedCell): Shape[] {
  const base = middleOf(area) + 4 - (lines.length - 1) * 6;
  return [
    { kind: "box", ...area, tone, corner: 4, shows },
    ...lines.map((text, index): Shape => ({
      kind: "label",
      x: area.x + area.width / 2,
      y: base + index * 12,
      text,
      anchor: "middle",
      size: lines.length > 1 ? 9.5 : 11,
    })),
  ];
}

/** Draws the name of a machine, or of the objects in Kubernetes. */
function drawName({ title, note }: Lane, y: number): Shape[] {
  const base = y + row.height / 2 + 4;
  const name = { x: margin, text: title, size: 11.5, bold: true };
  if (note === undefined) return [{ kind: "label", ...name, y: base }];
  return [
    { kind: "label", ...name, y: base - 7 },
    { kind: "label", x: margin, y: base + 7, text: note, size: 9.5, color: "faint" },
  ];
}

/** Draws the numbers of the steps, with a thin line on the left of each. */
function drawSteps(count: number, step: number, end: number): Shape[] {
  return Array.from({ length: count }, (_, index): Shape[] => {
    const x = margin + names + index * step;
    const text = `Step ${String(index + 1)}`;
    return [
      {
        kind: "label",
        x: x + step / 2,
        y: margin + 12,
        text,
        size: 10.5,
        bold: true,
        color: "faint",
        anchor: "middle",
      },
      {
        kind: "line",
        tone: "neutral",
        weight: 0.5,
        points: [
          { x, y: margin + 22 },
          { x, y: end + 8 },
        ],
      },
    ];
  }).flat();
}

/** Draws which machine is upgraded in which step. */
export function drawUpgrade(
  title: string,
  spec: ClusterSpec,
  resources: readonly UpgradedResource[],
): Picture {
  const lanes = lanesOf(spec, resources);
  const tops = topsOf(lanes);
  const count = Math.max(...resources.map(({ step }) => step)) + 1;
  const step = (width - 2 * margin - names) / count;
  const end = (tops.at(-1) ?? 0) + row.height;
  const placed = lanes.flatMap(({ cells }, index) =>
    cells.map((cell): PlacedCell => {
      const x = margin + names + cell.step * step + inset;
      const area = { x, y: tops[index] ?? 0, width: step - 2 * inset, height: row.height };
      return { ...cell, area };
    }),
  );
  const order = Array.from({ length: count }, (_, index) => {
    const now = lanes.filter(({ cells }) => cells.some((cell) => cell.step === index));
    return `Step ${String(index + 1)}: ${now.map((lane) => lane.title).join(", ")}.`;
  });
  return {
    title,
    description: order.join(" "),
    width,
    height: end + margin,
    shapes: [
      ...drawSteps(count, step, end),
      ...lanes.flatMap((lane, index) => drawName(lane, tops[index] ?? 0)),
      ...drawWaits(placed),
      ...placed.flatMap(drawCell),
    ],
  };
}
