import type { Command } from "commander";
import { CloudError, type CloudErrorKind } from "../../cloud/cloud-error.js";
import { ClusterError, type ErrorCode } from "../cluster/cluster-error.js";
import { redactorFor, type Redactor } from "../cluster/redact.js";
import type { Progress } from "../progress.js";
import { jsonProgress } from "../render/json-lines.js";
import { terminalScreen, type Screen } from "../render/screen.js";
import { UserError } from "../user-error.js";

/** What every command gets: where to write, how to be stopped. */
export interface Session {
  readonly json: boolean;
  readonly progress: Progress;
  readonly redactor: Redactor;
  /** Aborted by the first Ctrl-C (or SIGTERM): stop in good order. */
  readonly signal: AbortSignal;
  /** Aborted by the second: stop at once. */
  readonly killSignal: AbortSignal;
  /** A result for people; nothing in JSON mode. */
  print(text: string): void;
  /** A JSON line; nothing otherwise. */
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
      note("Stopping at once. The next run repairs what is left half-done.");
      kill.abort();
      return;
    }
    note("Stopping in good order: running steps end first. Press Ctrl-C again to stop at once.");
    cancel.abort();
  };
  process.on("SIGINT", interrupt).on("SIGTERM", interrupt);
  return {
    signal: cancel.signal,
    killSignal: kill.signal,
    stop: () => {
      process.off("SIGINT", interrupt).off("SIGTERM", interrupt);
    },
  };
}

const codes: Readonly<Record<CloudErrorKind, ErrorCode>> = {
  configuration: "CLOUD_NOT_CONFIGURED",
  unreachable: "CLOUD_UNREACHABLE",
  unauthenticated: "AUTH_FAILED",
  forbidden: "FORBIDDEN",
  "not-found": "NOT_FOUND",
  conflict: "FAILED",
  quota: "QUOTA_EXCEEDED",
  failed: "FAILED",
};

/** Any error as one with a code, a sentence and perhaps a hint. */
export function asClusterError(error: unknown, signal?: AbortSignal): ClusterError {
  if (error instanceof ClusterError) return error;
  if (signal?.aborted === true)
    return new ClusterError(
      "CANCELLED",
      "Stopped on request. What was done is kept.",
      "Run the same command again to go on.",
    );
  if (error instanceof CloudError)
    return new ClusterError(codes[error.kind], error.message, error.hint);
  if (error instanceof UserError) {
    const code = /is not installed/.test(error.message) ? "TOOL_MISSING" : "FAILED";
    const known = new ClusterError(code, error.message, error.hint);
    return error.exitCode === 1 ? known : Object.assign(known, { exitCode: error.exitCode });
  }
  const text = error instanceof Error ? error.message : String(error);
  return new ClusterError("FAILED", text, "Run the same command again.");
}

/** A stack trace helps only with an error that nobody foresaw. */
function traceOf(error: unknown): string {
  const foreseen = error instanceof UserError || !(error instanceof Error);
  return foreseen || process.env["STACKADM_DEBUG"] === undefined ? "" : `\n${error.stack ?? ""}`;
}

interface GlobalOptions {
  readonly json?: boolean;
}

/** Runs one command from start to exit code: progress on standard error, result on standard output. */
export async function runCommand(
  command: Command,
  work: (session: Session) => Promise<number | undefined>,
): Promise<void> {
  const json = command.optsWithGlobals<GlobalOptions>().json === true;
  const screen: Screen | undefined = json ? undefined : terminalScreen();
  const progress = screen ?? jsonProgress(writeLine);
  const redactor = redactorFor(process.env);
  const stops = listen((text) => {
    progress.note(text);
  });
  const session: Session = {
    json,
    progress,
    redactor,
    signal: stops.signal,
    killSignal: stops.killSignal,
    print: (text) => {
      if (!json) writeLine(text);
    },
    emit: (fields) => {
      // Engine events carry what programs and machines print: secrets are taken out value by value.
      const clean = (_: string, value: unknown): unknown =>
        typeof value === "string" ? redactor.clean(value) : value;
      if (json) writeLine(JSON.stringify(fields, clean));
    },
  };
  try {
    process.exitCode = (await work(session)) ?? 0;
  } catch (error) {
    const known = asClusterError(error, stops.signal);
    process.exitCode = known.exitCode;
    const [message, hint] = [known.sentence, known.hint ?? ""].map((t) => redactor.clean(t));
    if (json) session.emit({ type: "error", code: known.code, message, hint, ...known.subject });
    else
      progress.note(
        `\nerror: ${message ?? ""}${hint === "" ? "" : `\n  ${hint ?? ""}`}${redactor.clean(traceOf(error))}`,
      );
  } finally {
    screen?.close();
    stops.stop();
  }
}
