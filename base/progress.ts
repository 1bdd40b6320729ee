/**
 * Receiver for progress reports of long work: toolchain, lab, cluster operations and tests. Each
 * implementation shows the reports in another way: as live lines on a terminal, as plain lines or
 * as JSON lines.
 */
export interface Progress {
  /**
   * Begins a step. The display shows `expectedSeconds` next to the elapsed time. The value of
   * `expectedSeconds` comes from measured runs.
   */
  step(title: string, expectedSeconds?: number): Step;
  /** Prints a permanent line that belongs to no step. */
  note(text: string): void;
}

export interface Step {
  /** Shows a detail of the step. On a terminal, the detail replaces the previous detail. */
  update(detail: string): void;
  /** Ends the step as successful. `note` describes the result. */
  done(note?: string): void;
  /** Ends the step as failed. Does not throw. The caller throws the error. */
  failed(note?: string): void;
}

/**
 * Runs `work` as one step. If `work` throws an error, the step fails, and the error is thrown
 * again.
 */
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
    // The step shows only the first line of the error, because the caller shows the whole error.
    const [first = ""] = (error instanceof Error ? error.message : String(error)).split("\n");
    step.failed(first);
    throw error;
  }
}

/** Progress without output, for tests and for programs without a progress display. */
export const silentProgress: Progress = {
  step: () => ({ update: () => undefined, done: () => undefined, failed: () => undefined }),
  note: () => undefined,
};
