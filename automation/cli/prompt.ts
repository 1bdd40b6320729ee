import { createInterface } from "node:readline/promises";
import { Failure } from "../../base/failures/failure.js";

/** Streams for a question and its answer. */
export interface PromptOptions {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Signal that cancels the question. */
  readonly signal?: AbortSignal;
}

/**
 * Asks the user for one line. Returns "" if the input ends before a line. Throws CANCELLED if the
 * signal is aborted or the user presses Ctrl-C. During the question, the terminal sends Ctrl-C as a
 * key and not as a signal.
 */
export async function promptLine(
  question: string,
  { input, output, signal }: PromptOptions,
): Promise<string> {
  const stop = new AbortController();
  const stops = AbortSignal.any([stop.signal, ...(signal ? [signal] : [])]);
  const lines = createInterface({ input, output, signal: stops });
  try {
    lines.on("SIGINT", () => {
      stop.abort();
    });
    const answers = lines[Symbol.asyncIterator]();
    lines.setPrompt(question);
    lines.prompt();
    const answer: IteratorResult<string, unknown> = await answers.next();
    if (answer.done !== true) return answer.value;
  } finally {
    lines.close();
  }
  // Later output must begin on a new line.
  output.write("\n");
  if (stops.aborted)
    throw new Failure("CANCELLED", "Stopped on request before anything was changed.");
  return "";
}
