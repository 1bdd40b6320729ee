import { formatDuration } from "../../../../base/terminal/progress-screen.js";
import type { Picture, Shape } from "./svg.js";
import { wrapWords } from "./text-width.js";
import type { Duration, ResourceSpan, RunPart, UpRun } from "./up-run.js";

const [width, margin, names, times] = [720, 20, 148, 92];
const row = { gap: 8, least: 22, line: 12 };
const strip = { height: 2.5, step: 4, padding: 5 };
const size = 10.5;
const top = margin + 26;

/** Distributes spans over as few lanes as possible. The spans of a lane do not overlap. */
export function packLanes(spans: readonly ResourceSpan[]): readonly (readonly ResourceSpan[])[] {
  const lanes: ResourceSpan[][] = [];
  for (const span of [...spans].sort((one, other) => one.from - other.from)) {
    const free = lanes.find((lane) => (lane.at(-1)?.to ?? 0) <= span.from);
    if (free) free.push(span);
    else lanes.push([span]);
  }
  return lanes;
}

/** Distances of the lines on the axis, in seconds. */
const distances = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800];
const mostLines = 8;

/** Returns the times of the lines on the axis, in milliseconds. */
export function placeTicks(milliseconds: number): readonly number[] {
  const seconds = milliseconds / 1000;
  const distance = distances.find((one) => seconds / one <= mostLines) ?? seconds / mostLines;
  const count = Math.floor(seconds / distance) + 1;
  return Array.from({ length: count }, (_, index) => index * distance * 1000);
}

/** Row of the picture with its lanes and its place. */
interface PlacedPart {
  readonly part: RunPart;
  readonly lanes: readonly (readonly ResourceSpan[])[];
  readonly title: readonly string[];
  readonly y: number;
  readonly height: number;
}

function placeParts(parts: readonly RunPart[]): PlacedPart[] {
  let y = top;
  return parts.map((part) => {
    const lanes = packLanes(part.resources);
    const words = { size, separator: " " };
    const title = wrapWords(part.title.split(" "), names - 12, words);
    const tall = lanes.length * strip.step + 2 * strip.padding - (strip.step - strip.height);
    const height = Math.max(row.least, title.length * row.line + 6, lanes.length > 0 ? tall : 0);
    const placed = { part, lanes, title, y, height };
    y += height + row.gap;
    return placed;
  });
}

function drawPart(
  { part, lanes, title, y, height }: PlacedPart,
  across: (time: number) => number,
): Shape[] {
  const bar = ({ from, to }: Duration): { readonly x: number; readonly width: number } => ({
    x: across(from),
    width: Math.max(2, across(to) - across(from)),
  });
  const center = y + height / 2;
  const stripsTop = center - (lanes.length * strip.step - (strip.step - strip.height)) / 2;
  const isPhase = lanes.length > 0;
  const resources = `${String(part.resources.length)} ${part.resources.length === 1 ? "resource" : "resources"}`;
  const notes = [formatDuration(part.to - part.from), ...(isPhase ? [resources] : [])];
  const labelLine = (count: number, index: number): number =>
    center + 4 + (index - (count - 1) / 2) * row.line;
  return [
    ...title.map((text, index): Shape => ({
      kind: "label",
      x: margin,
      y: labelLine(title.length, index),
      text,
      size,
    })),
    {
      kind: "box",
      ...bar(part),
      y,
      height,
      corner: 3,
      tone: isPhase ? "blue" : "neutral",
      ...(isPhase ? {} : { fill: "solid" }),
      shows: [part.title],
    },
    ...lanes.flatMap((lane, index) =>
      lane.map((span): Shape => ({
        kind: "box",
        ...bar(span),
        y: stripsTop + index * strip.step,
        height: strip.height,
        corner: 1,
        tone: "blue",
        fill: "solid",
        shows: [span.name],
      })),
    ),
    ...notes.map((text, index): Shape => ({
      kind: "label",
      x: width - margin,
      y: labelLine(notes.length, index),
      text,
      anchor: "end",
      ...(index === 0 ? { size, bold: true } : { size: 9.5, color: "faint" }),
    })),
  ];
}

/** Draws when the steps, the phases and the resources of an `up` began and ended. */
export function drawUpRun(title: string, { parts, milliseconds }: UpRun): Picture {
  const placed = placeParts(parts);
  const end = Math.max(...placed.map(({ y, height }) => y + height));
  const [left, right] = [margin + names, width - margin - times];
  const across = (time: number): number => left + (time / milliseconds) * (right - left);
  const ticks = placeTicks(milliseconds).flatMap((time): Shape[] => [
    {
      kind: "line",
      tone: "neutral",
      weight: 0.5,
      points: [
        { x: across(time), y: margin + 16 },
        { x: across(time), y: end + 6 },
      ],
    },
    {
      kind: "label",
      x: across(time),
      y: margin + 10,
      text: time === 0 ? "0" : formatDuration(time),
      size: 9.5,
      color: "faint",
      anchor: "middle",
    },
  ]);
  const words = parts.map(
    ({ title: name, from, to }) =>
      `${name}: from ${formatDuration(from)}, for ${formatDuration(to - from)}.`,
  );
  return {
    title,
    description: words.join(" "),
    width,
    height: end + margin,
    shapes: [...ticks, ...placed.flatMap((one) => drawPart(one, across))],
  };
}
