/*
 * Recording of a terminal in the format asciicast 2: a line with the size of the terminal, then a
 * line for each output.
 */

export interface TerminalSize {
  readonly columns: number;
  readonly rows: number;
}

/** Output of a program, with its time in seconds since the beginning of the recording. */
export interface TerminalOutput {
  readonly seconds: number;
  readonly text: string;
}

export interface Cast {
  readonly size: TerminalSize;
  /** Command that was recorded. */
  readonly command: string;
  readonly outputs: readonly TerminalOutput[];
}

interface Header {
  readonly version: number;
  readonly width: number;
  readonly height: number;
  readonly command?: string;
}

/** Returns the recording as the text of a `.cast` file. */
export function renderCast({ size, command, outputs }: Cast): string {
  const header = { version: 2, width: size.columns, height: size.rows, command };
  const lines = outputs.map(({ seconds, text }) => [Number(seconds.toFixed(3)), "o", text]);
  return [header, ...lines].map((line) => `${JSON.stringify(line)}\n`).join("");
}

/** Reads the text of a `.cast` file. Ignores input and other events that print nothing. */
export function parseCast(text: string): Cast {
  const [first = "{}", ...lines] = text.split("\n").filter((line) => line !== "");
  const { version, width, height, command = "" } = JSON.parse(first) as Header;
  if (version !== 2) throw new Error(`asciicast ${String(version)} is not supported, only 2`);
  const events = lines.map((line) => JSON.parse(line) as [number, string, string]);
  return {
    size: { columns: width, rows: height },
    command,
    outputs: events
      .filter(([, kind]) => kind === "o")
      .map(([seconds, , output]) => ({ seconds, text: output })),
  };
}
