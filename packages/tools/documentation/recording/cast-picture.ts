import { escapeXml } from "../pictures/svg.js";
import type { Cast } from "./cast.js";
import { playCast, type Frame, type Run } from "./terminal-frames.js";

/*
 * Draws a recording of a terminal as an animated SVG. All frames are next to each other, and the
 * animation moves them through a window. Readers who prefer less motion see the last frame.
 */

const cell = { width: 7.2, height: 16, baseline: 12 };
const margin = 14;
const bar = 30;

/** Longest play time in seconds without the pause at the end, and the pause. */
const longest = { play: 40, pause: 6 };

/** Numbers of frames, from smooth to small. The first that fits into the size is used. */
const frameCounts = [160, 120, 90, 70, 50, 35, 25];

/** Largest size of the file in bytes. */
export const largestSize = 300_000;

const rounded = (value: number): string => String(Math.round(value * 100) / 100);

/** Replaces spaces that follow a space, because SVG shows only one of them. */
const keepSpaces = (text: string): string => text.replaceAll(/ (?= )|(?<= ) /g, "\u00A0");

/** Renders a line. The lengths keep columns aligned in fonts with other widths. */
const renderLine = (runs: readonly Run[], id: string): string => {
  const texts = runs.map(({ column, text, bold }, index) => {
    const [x, length] = [column, Array.from(text).length].map((count) =>
      rounded(count * cell.width),
    );
    const weight = bold ? ' class="b"' : "";
    const name = runs.length === 1 && index === 0 ? ` id="${id}"` : "";
    return `<text${name}${weight} x="${String(x)}" textLength="${String(length)}">${escapeXml(keepSpaces(text))}</text>`;
  });
  return runs.length === 1 ? texts.join("") : `<g id="${id}">${texts.join("")}</g>`;
};

/** Returns the different lines of all frames with their IDs, by their content as JSON. */
function collectLines(
  frames: readonly Frame[],
): ReadonlyMap<string, { id: string; drawn: string }> {
  const found = new Map<string, { id: string; drawn: string }>();
  for (const runs of frames.flatMap(({ lines }) => lines)) {
    const key = JSON.stringify(runs);
    if (runs.length === 0 || found.has(key)) continue;
    const id = `l${found.size.toString(36)}`;
    found.set(key, { id, drawn: renderLine(runs, id) });
  }
  return found;
}

function renderFrames(frames: readonly Frame[], width: number): string[] {
  const lines = collectLines(frames);
  const drawn = frames.map((frame, index) => {
    const uses = frame.lines.flatMap((runs, row) => {
      const id = lines.get(JSON.stringify(runs))?.id;
      const y = rounded(row * cell.height + cell.baseline);
      return id === undefined ? [] : [`<use href="#${id}" y="${y}"/>`];
    });
    return `<g transform="translate(${rounded(index * width)})">${uses.join("")}</g>`;
  });
  const definitions = [...lines.values()].map((line) => line.drawn);
  return ["<defs>", ...definitions, "</defs>", '<g class="film">', ...drawn, "</g>"];
}

/** Returns the animation: when each frame begins, in percent of the play time. */
function renderAnimation(frames: readonly Frame[], width: number, speed: number): string {
  const start = frames[0]?.seconds ?? 0;
  const time = ({ seconds }: Frame): number => (seconds - start) / speed;
  const last = frames.at(-1);
  const total = (last ? time(last) : 0) + longest.pause;
  const move = (index: number): string => `{transform:translateX(${rounded(-index * width)}px)}`;
  const keys = frames.map(
    (frame, index) => `${rounded((100 * time(frame)) / total)}%${move(index)}`,
  );
  return [
    `.film${move(frames.length - 1)}`,
    `.film{animation:film ${rounded(total)}s step-end infinite}`,
    `@keyframes film{${keys.join("")}}`,
    "@media (prefers-reduced-motion:reduce){.film{animation:none}}",
  ].join("\n");
}

/** Returns how many times faster the picture plays than the recording. */
const speedOf = ({ outputs }: Cast): number =>
  Math.max(1, (outputs.at(-1)?.seconds ?? 0) / longest.play);

const isFilled = (line: readonly Run[]): boolean => line.length > 0;

/** Draws the window of a terminal with these frames. */
function drawFrames(cast: Cast, frames: readonly Frame[]): string {
  const { size, command } = cast;
  const speed = speedOf(cast);
  const rows = Math.max(...frames.map((frame) => frame.lines.findLastIndex(isFilled) + 1));
  const inner = { width: size.columns * cell.width, height: rows * cell.height };
  const [w, h] = [inner.width + 2 * margin, inner.height + bar + 2 * margin].map(rounded);
  const faster = speed === 1 ? "" : `, ${speed.toFixed(0)} times faster than it ran`;
  const last = (frames.at(-1)?.lines ?? []).map((runs) => runs.map(({ text }) => text).join(" "));
  const description = last.filter((line) => line !== "").join("\n");
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${String(w)}" height="${String(h)}" viewBox="0 0 ${String(w)} ${String(h)}" role="img" aria-labelledby="title description">`,
    `<title id="title">${escapeXml(`Recording of ${command}${faster}`)}</title>`,
    `<desc id="description">${escapeXml(description)}</desc>`,
    "<style>",
    'text{font:12px ui-monospace,SFMono-Regular,Menlo,Consolas,"DejaVu Sans Mono",monospace;fill:#d7dfe8}',
    ".b{font-weight:700}.window{fill:#111923}.bar{fill:#202b38}.faint{fill:#93a1b0}",
    renderAnimation(frames, inner.width, speed),
    "</style>",
    '<rect class="window" width="100%" height="100%"/>',
    `<rect class="bar" width="100%" height="${bar}"/>`,
    `<text class="faint" x="${margin}" y="19">${escapeXml(`${command}${faster}`)}</text>`,
    `<svg x="${margin}" y="${bar + margin}" width="${rounded(inner.width)}" height="${rounded(inner.height)}">`,
    ...renderFrames(frames, inner.width),
    "</svg>",
    "</svg>",
    "",
  ].join("\n");
}

/** Draws the recording as an animated SVG. Throws if the recording is too large for a picture. */
export async function drawCast(cast: Cast): Promise<string> {
  const seconds = cast.outputs.at(-1)?.seconds ?? 0;
  for (const count of frameCounts) {
    const drawn = drawFrames(cast, await playCast(cast, seconds / count));
    if (Buffer.byteLength(drawn) <= largestSize) return drawn;
  }
  throw new Error(`the recording needs a picture of more than ${largestSize / 1000} kB`);
}
