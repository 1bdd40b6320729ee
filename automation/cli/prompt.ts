import { createInterface } from "node:readline/promises";
import { Failure } from "../../base/failures/failure.js";

/** Streams on which a question is asked and answered. */
export interface AskTarget {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
  /** Signal that ends the question. */
  readonly signal?: AbortSignal;
}

/**
 * Asks the user for a line. Returns "" if the input ends without a line. Throws CANCELLED on the
 * signal, and on Ctrl-C, which a terminal sends as a key during the question.
 */
export async function promptLine(
  question: string,
  { input, output, signal }: AskTarget,
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
  // Ends the line of the question.
  output.write("\n");
  if (stops.aborted)
    throw new Failure("CANCELLED", "Stopped on request before anything was changed.");
  return "";
}
