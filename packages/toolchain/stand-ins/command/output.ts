/**
 * Collects a command's output. Each stream is available separately, and both in the order of
 * arrival for error messages. While the command runs, its output is reported line by line.
 */

export type Logging = "none" | "stdout" | "stderr" | "stdoutAndStderr";
export type OutputStreamName = "stdout" | "stderr";

export class OutputCollector {
  private readonly chunks: { stream: OutputStreamName; data: Buffer }[] = [];
  private readonly decoder = new TextDecoder();
  private line: string[] = [];

  constructor(
    private readonly logging: Logging,
    private readonly onLine: (line: string) => void,
  ) {}

  add(stream: OutputStreamName, data: Buffer): void {
    this.chunks.push({ stream, data });
    if (this.logging === "stdoutAndStderr" || this.logging === stream) {
      this.split(this.decoder.decode(data, { stream: true }));
    }
  }

  /** Reports the last line if it does not end in a newline. */
  end(): void {
    this.split(this.decoder.decode());
    if (this.line.length > 0) this.emit();
  }

  /** Returns both streams in the order of arrival. */
  combined(): string {
    return Buffer.concat(this.chunks.map(({ data }) => data)).toString("utf8");
  }

  /** Returns the output of one stream without its final newline. */
  of(stream: OutputStreamName): string {
    const chunks = this.chunks.filter((chunk) => chunk.stream === stream);
    const text = Buffer.concat(chunks.map(({ data }) => data)).toString("utf8");
    return text.endsWith("\n") ? text.slice(0, -1) : text;
  }

  private split(text: string): void {
    const parts = text.split("\n");
    const rest = parts.pop() ?? "";
    for (const part of parts) {
      this.line.push(part);
      this.emit();
    }
    if (rest !== "") this.line.push(rest);
  }

  private emit(): void {
    const line = this.line.join("");
    this.line = [];
    this.onLine(line.endsWith("\r") ? line.slice(0, -1) : line);
  }
}

/**
 * Returns a string in double quotes, as Go's %q writes it. Official errors quote commands in this
 * way.
 */
export function quoteLikeGo(text: string): string {
  const named: Record<string, string> = { "\u0007": "\\a", "\u000b": "\\v" };
  return JSON.stringify(text).replace(/\\u00([01][0-9a-f])|\u007f/g, (_match, hex?: string) => {
    if (hex === undefined) return "\\x7f";
    return named[String.fromCharCode(parseInt(hex, 16))] ?? `\\x${hex}`;
  });
}

/**
 * Returns the error of a failed command: the reason, the command and the complete output. No
 * argument may contain a secret.
 */
export function createCommandError(why: string, command: string, output: OutputCollector): Error {
  return new Error(`${why}: running ${quoteLikeGo(command)}:\n${output.combined()}`);
}
