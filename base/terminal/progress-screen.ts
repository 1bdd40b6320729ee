import type { Progress, Step } from "../progress.js";

/** Output stream of a progress screen, with the properties of the terminal. */
export interface ScreenTarget {
  write(text: string): void;
  readonly isTTY: boolean;
  readonly columns: number;
  /** Returns the current time in milliseconds. Tests replace this function. */
  now(): number;
}

export interface ProgressScreen extends Progress {
  /** Stops drawing. Later output appears below the screen. */
  close(): void;
}

export interface OpenStep {
  readonly title: string;
  readonly since: number;
  readonly expected?: number;
  detail: string;
}

/** Formats a duration, for example `5 s` or `1 min 05 s`. */
export function formatDuration(milliseconds: number): string {
  const seconds = Math.round(milliseconds / 1000);
  return seconds < 60
    ? `${seconds} s`
    : `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, "0")} s`;
}

/** Formats the time of a step, for example `12 s of about 30 s`. */
export function formatStepTime(step: OpenStep, now: number): string {
  const took = formatDuration(now - step.since);
  return step.expected === undefined
    ? took
    : `${took} of about ${formatDuration(step.expected * 1000)}`;
}

/**
 * Milliseconds between two redraws on a terminal (`redraw`), and milliseconds of silence after
 * which a plain log repeats the open steps (`heartbeat`).
 */
const redraw = 250;
const heartbeat = 15_000;

/** Returns one line for each open step. On a terminal, these lines are redrawn at the bottom. */
export function renderOpenSteps(
  steps: readonly OpenStep[],
  now: number,
  columns: number,
): string[] {
  const spinner = "|/-\\"[Math.floor(now / redraw) % 4] ?? "|";
  return steps.map((step) => {
    const detail = step.detail === "" ? "" : `  ${step.detail}`;
    return `${spinner} ${step.title}  ${formatStepTime(step, now)}${detail}`.slice(0, columns - 1);
  });
}

const escape = "\u001B[";
const withDetail = (text: string, { detail }: OpenStep): string =>
  detail === "" ? text : `${text}; ${detail}`;

class LineScreen implements ProgressScreen {
  private readonly open: OpenStep[] = [];
  private readonly timer: NodeJS.Timeout;
  private drawn = 0;
  private spokenAt: number;

  constructor(private readonly target: ScreenTarget) {
    this.spokenAt = target.now();
    const tick = (): void => {
      if (target.isTTY) this.draw();
      else this.breathe();
    };
    this.timer = setInterval(tick, target.isTTY ? redraw : 1000);
    this.timer.unref();
  }

  step(title: string, expected?: number): Step {
    const entry: OpenStep = { title, since: this.target.now(), expected, detail: "" };
    this.open.push(entry);
    const about = expected === undefined ? "" : ` (about ${formatDuration(expected * 1000)})`;
    if (!this.target.isTTY) this.note(`> ${title}${about}`);
    return {
      update: (detail) => {
        entry.detail = detail;
      },
      done: (note) => {
        this.end(entry, "+", note);
      },
      failed: (note) => {
        this.end(entry, "x", note);
      },
    };
  }

  note(text: string): void {
    this.spokenAt = this.target.now();
    this.erase();
    this.target.write(`${text}\n`);
    if (this.target.isTTY) this.draw();
  }

  close(): void {
    clearInterval(this.timer);
    this.erase();
  }

  private end(entry: OpenStep, sign: string, note = ""): void {
    const index = this.open.indexOf(entry);
    if (index < 0) return;
    this.open.splice(index, 1);
    const took = formatDuration(this.target.now() - entry.since);
    this.note(`${sign} ${entry.title} (${took})${note === "" ? "" : `: ${note}`}`);
  }

  private erase(): void {
    if (this.drawn > 0) this.target.write(`${escape}${this.drawn}A${escape}0J`);
    this.drawn = 0;
  }

  private draw(): void {
    this.erase();
    const lines = renderOpenSteps(this.open, this.target.now(), this.target.columns);
    if (lines.length > 0) this.target.write(`${lines.join("\n")}\n`);
    this.drawn = lines.length;
  }

  /** Prints the open steps if nothing was printed for {@link heartbeat} milliseconds. */
  private breathe(): void {
    const now = this.target.now();
    if (now - this.spokenAt < heartbeat) return;
    for (const step of this.open)
      this.note(withDetail(`... ${step.title}: ${formatStepTime(step, now)}`, step));
  }
}

/**
 * Returns a screen. On a terminal, the screen redraws the open steps. Otherwise it prints plain
 * lines, and prints the open steps again after 15 s without output.
 */
export const createScreen = (target: ScreenTarget): ProgressScreen => new LineScreen(target);

/** Returns a screen on standard error, because standard output is only for results. */
export function createTerminalScreen(stream: NodeJS.WriteStream = process.stderr): ProgressScreen {
  return createScreen({
    write: (text) => stream.write(text),
    isTTY: stream.isTTY && process.env["CI"] === undefined && process.env["TERM"] !== "dumb",
    get columns() {
      return stream.columns || 100;
    },
    now: () => Date.now(),
  });
}
