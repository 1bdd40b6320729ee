/**
 * Progress reports of long work. Toolchain, lab, cluster operations and tests report through this
 * interface. A renderer shows the reports as live lines on a terminal, plain lines or JSON lines.
 */
export interface Progress {
  /**
   * Begins a step. `expectedSeconds` comes from measured runs and is shown next to the elapsed
   * time.
   */
  step(title: string, expectedSeconds?: number): Step;
  /** Prints a permanent line outside any step. */
  note(text: string): void;
}

export interface Step {
  /** Shows the current detail of the step, which replaces the previous one on a terminal. */
  update(detail: string): void;
  /** Ends the step as successful; `note` describes the result. */
  done(note?: string): void;
  /** Ends the step as failed. The caller throws the error itself. */
  failed(note?: string): void;
}

/** Runs `work` as one step. The step fails if `work` throws; the error is thrown again. */
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
    // The caller shows the whole error, so the step shows only the first line.
    const [first = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    step.failed(first);
    throw error;
  }
}

/** Progress without output, for tests and for programs that need none. */
export const silentProgress: Progress = {
  step: () => ({ update: () => undefined, done: () => undefined, failed: () => undefined }),
  note: () => undefined,
};
