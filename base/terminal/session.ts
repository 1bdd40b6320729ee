import type { Command } from "commander";
import { Failure } from "../failures/failure.js";
import type { FailureCode } from "../failures/failure-codes.js";
import { createRedactor, redactProgress, type Redactor } from "./redact-secrets.js";
import { convertAbortError } from "../failures/cancellation.js";
import type { Progress } from "../progress.js";
import { createJsonProgress } from "./json-progress.js";
import { createTerminalScreen, type ProgressScreen } from "./progress-screen.js";

/** Context of every command: output and stop signals. */
export interface CommandSession {
  /** Start of the command, in milliseconds since 1970. */
  readonly startedAt: number;
  readonly json: boolean;
  readonly progress: Progress;
  readonly redactor: Redactor;
  /** Signal for a graceful stop. The first Ctrl-C, SIGTERM or SIGHUP aborts this signal. */
  readonly signal: AbortSignal;
  /** Signal for an immediate stop. The second Ctrl-C aborts this signal. */
  readonly killSignal: AbortSignal;
  /** Prints a result for the user, without secrets. Does nothing with `--json`. */
  print(text: string): void;
  /** Prints data that the user asked for, unchanged. Does nothing with `--json`. */
  printData(text: string): void;
  /** Prints a JSON line, without secrets in its texts. Does nothing without `--json`. */
  emit(fields: Readonly<Record<string, unknown>>): void;
}

const writeLine = (line: string): void => {
  process.stdout.write(`${line}\n`);
};

interface Stops {
  readonly signal: AbortSignal;
  readonly killSignal: AbortSignal;
  stop(): void;
}

function listen(note: (text: string) => void): Stops {
  const [cancel, kill] = [new AbortController(), new AbortController()];
  const interrupt = (): void => {
    if (kill.signal.aborted) process.exit(130);
    if (cancel.signal.aborted) {
      note("Stopping immediately. The next run repairs what this one leaves unfinished.");
      kill.abort();
      return;
    }
    note("Stopping after the running steps. Press Ctrl-C again to stop immediately.");
    cancel.abort();
  };
  // A closed terminal sends several SIGHUP. The second SIGHUP must not count as a second Ctrl-C.
  const hangUp = (): void => {
    if (!cancel.signal.aborted) interrupt();
  };
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt).on("SIGHUP", hangUp);
  return {
    signal: cancel.signal,
    killSignal: kill.signal,
    stop: () => {
      process.off("SIGINT", interrupt).off("SIGTERM", interrupt).off("SIGHUP", hangUp);
    },
  };
}

/** Converts an error to a Failure, which has a code, a sentence and a hint. */
export function toFailure(error: unknown, signal?: AbortSignal): Failure {
  const known = convertAbortError(error, signal);
  return known instanceof Failure ? known : unforeseen(known);
}

function unforeseen(error: unknown): Failure {
  const plain = error instanceof Error && error.name === "Error" && error.message !== "";
  const message = plain ? error.message : String(error);
  return new Failure(
    "FAILED",
    `Unexpected failure: ${message.replace(/\.?$/, ".")}`,
    "Run the same command again; if it fails again, run it with STACKADM_DEBUG=1 and report the output.",
  );
}

/** Page that explains every failure code. The package contains the page under the same path. */
const failurePage = "docs/reference/failures.md";

/** Codes without a reference, because the page says less than the message. */
const unreferenced: readonly FailureCode[] = ["FAILED", "INVALID_USAGE"];

/** Returns the line that names the code and its place on the page. */
const failureReference = (code: FailureCode): string =>
  unreferenced.includes(code) ? "" : `\n  ${code}: ${failurePage}#${code.toLowerCase()}`;

/**
 * Returns the text of an error: sentence, hint and code. With STACKADM_DEBUG, adds the stack trace
 * of an unexpected error.
 */
export function formatFailure(
  error: unknown,
  { code, sentence, hint }: Failure,
  env: NodeJS.ProcessEnv = process.env,
): string {
  const foreseen = error instanceof Failure || !(error instanceof Error);
  const trace = foreseen || env["STACKADM_DEBUG"] === undefined ? "" : `\n${error.stack ?? ""}`;
  return `error: ${sentence}\n  ${hint}${failureReference(code)}${trace}`;
}

/** Returns the fields of an error's JSON line, which is the last line of the output. */
export const createErrorEvent = ({ code, sentence: message, hint, subject }: Failure) => ({
  type: "error",
  code,
  message,
  hint,
  ...subject,
});

/**
 * Returns fields as JSON text. Removes secrets from the texts, because engine events contain output
 * of programs and machines. Fields that programs use as data are not changed.
 */
export const formatRedactedJson = (
  fields: Readonly<Record<string, unknown>>,
  redactor: Redactor,
): string => JSON.stringify(redactor.cleanFields(JSON.parse(JSON.stringify(fields)) as unknown));

interface GlobalOptions {
  readonly json?: boolean;
}

/**
 * Runs one command and sets the exit code. Writes progress to standard error and the result to
 * standard output.
 */
export async function runCliCommand(
  command: Command,
  work: (session: CommandSession) => Promise<number | undefined>,
): Promise<void> {
  const startedAt = Date.now();
  const json = command.optsWithGlobals<GlobalOptions>().json === true;
  const screen: ProgressScreen | undefined = json ? undefined : createTerminalScreen();
  const redactor = createRedactor(process.env);
  const progress = redactProgress(screen ?? createJsonProgress(writeLine), redactor);
  const stops = listen((text) => {
    progress.note(text);
  });
  const session: CommandSession = {
    startedAt,
    json,
    progress,
    redactor,
    signal: stops.signal,
    killSignal: stops.killSignal,
    print: (text) => {
      if (!json) writeLine(redactor.clean(text));
    },
    printData: (text) => {
      if (!json) writeLine(text);
    },
    emit: (fields) => {
      if (json) writeLine(formatRedactedJson(fields, redactor));
    },
  };
  try {
    process.exitCode = (await work(session)) ?? 0;
  } catch (error) {
    const known = toFailure(error, stops.signal);
    process.exitCode = known.exitCode;
    if (json) session.emit(createErrorEvent(known));
    else progress.note(`\n${formatFailure(error, known)}`);
  } finally {
    screen?.close();
    stops.stop();
  }
}
