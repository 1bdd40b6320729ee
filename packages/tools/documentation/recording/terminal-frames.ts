import { Terminal, type IBufferLine } from "@xterm/headless";
import type { Cast } from "./cast.js";

/** Part of a line with the same weight. */
export interface Run {
  readonly column: number;
  readonly text: string;
  readonly bold: boolean;
}

/** Screen of the terminal at a time. */
export interface Frame {
  readonly seconds: number;
  /** Lines from the top, each with its parts. Spaces at the ends are left out. */
  readonly lines: readonly (readonly Run[])[];
}

/** Returns the parts of a line. Throws if a character has a colour. */
function readLine(line: IBufferLine | undefined, columns: number): Run[] {
  const runs: { column: number; text: string; bold: boolean }[] = [];
  for (let column = 0; column < columns; column += 1) {
    const cell = line?.getCell(column);
    if (!cell) break;
    if (!cell.isFgDefault() || !cell.isBgDefault())
      throw new Error("the recording has colours, which the picture does not show");
    const bold = cell.isBold() !== 0;
    const character = cell.getChars() === "" ? " " : cell.getChars();
    const last = runs.at(-1);
    if (last?.bold === bold) last.text += character;
    else runs.push({ column, text: character, bold });
  }
  return runs
    .map((run) => ({ ...run, text: run.text.trimEnd() }))
    .filter(({ text }) => text !== "")
    .map(({ column, text, bold }) => {
      const shown = text.trimStart();
      return { column: column + text.length - shown.length, text: shown, bold };
    });
}

/** Seconds between two outputs of the same redraw. */
const redraw = 0.03;

/** Text that a terminal has got until a moment at which its screen is shown. */
interface Moment {
  readonly seconds: number;
  readonly text: string;
}

/**
 * Returns the moments at which a screen is shown. An output after which the screen changes again
 * within `pause` seconds after the last moment is part of the next moment.
 */
function findMoments(outputs: Cast["outputs"], pause: number): readonly Moment[] {
  const moments: Moment[] = [];
  let pending = "";
  for (const [index, { seconds, text }] of outputs.entries()) {
    pending += text;
    const next = outputs[index + 1]?.seconds ?? Infinity;
    const last = moments.at(-1)?.seconds ?? -Infinity;
    if (next < last + pause || next < seconds + redraw) continue;
    moments.push({ seconds, text: pending });
    pending = "";
  }
  return moments;
}

/**
 * Plays a recording on a terminal, and returns a frame whenever the screen has changed. A screen
 * that changes again within `pause` seconds after the last frame gets no frame.
 */
export async function playCast({ size, outputs }: Cast, pause: number): Promise<readonly Frame[]> {
  const { columns, rows } = size;
  const terminal = new Terminal({ cols: columns, rows, allowProposedApi: true });
  const frames: Frame[] = [];
  let shown = "";
  for (const { seconds, text } of findMoments(outputs, pause)) {
    await new Promise<void>((done) => {
      terminal.write(text, done);
    });
    const { active } = terminal.buffer;
    const lines = Array.from({ length: rows }, (_, row) =>
      readLine(active.getLine(active.viewportY + row), columns),
    );
    if (JSON.stringify(lines) === shown) continue;
    shown = JSON.stringify(lines);
    frames.push({ seconds, lines });
  }
  terminal.dispose();
  return frames;
}
