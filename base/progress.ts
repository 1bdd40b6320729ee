/**
 * How long work tells a person where it is. Producers (toolchain, lab, cluster operations, tests) only know
 * this interface; what is drawn (live lines on a terminal, plain lines elsewhere, JSON lines) is the renderer's.
 */
export interface Progress {
  /** Begins a step. `expectedSeconds` comes from measured runs and is shown beside the elapsed time. */
  step(title: string, expectedSeconds?: number): Step;
  /** A line that stays on the screen, outside any step. */
  note(text: string): void;
}

export interface Step {
  /** The newest thing that happens inside the step; replaces the one before on a terminal. */
  update(detail: string): void;
  /** Ends the step well; `note` says what came of it. */
  done(note?: string): void;
  /** Ends the step badly. The error itself is thrown by the caller. */
  failed(note?: string): void;
}

/** Runs `work` as one step: ends it well or badly with the promise. */
export async function withStep<T>(
  progress: Progress,
  title: string,
  expectedSeconds: number | undefined,
  work: (step: Step) => Promise<T>,
): Promise<T> {
  const step = progress.step(title, expectedSeconds);
  try {
    const result = await work(step);
    step.done();
    return result;
  } catch (error) {
    // The caller shows the whole error; here its first line is enough.
    const [first = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    step.failed(first);
    throw error;
  }
}

/** Says nothing: for tests and for embedders that do not care. */
export const silent: Progress = {
  step: () => ({ update: () => undefined, done: () => undefined, failed: () => undefined }),
  note: () => undefined,
};
