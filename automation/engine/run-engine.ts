import type { ChildProcess } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import type { z } from "zod";
import { Failure } from "../../base/failures/failure.js";
import { describeLock, parseLocksFromMessage } from "../pulumi/engine-locks.js";
import type { DecodedEngineEvent } from "../pulumi/events.js";
import { explainMessages, explainMessage } from "./engine-errors.js";
import {
  cancelMessage,
  workerReplySchema,
  type loadProgramMessageSchema,
  type OperationRequest,
  type WorkerReply,
} from "./worker-messages.js";
import {
  createScriptTimeoutError,
  watchScripts,
  type ScriptWatchLimits,
} from "./script-watchdog.js";
import { startWorker, type WorkerEnvironment } from "./start-worker.js";

export interface WorkerRunOptions extends WorkerEnvironment {
  readonly onEvent: (event: DecodedEngineEvent) => void;
  /** Called when the engine has got the stack's lock. Only for the operation `hold`. */
  readonly onHeld?: () => void;
  /** Receives each line that the program and the engine print. Events are not lines. */
  readonly onOutput?: (line: string) => void;
  /** Signal that cancels the operation: running steps finish, then the engine stops. */
  readonly signal?: AbortSignal;
  /** Signal that kills the engine at once. The next operation undoes the pending operations. */
  readonly killSignal?: AbortSignal;
  /**
   * Time limits for scripts that send no sign of life. Default: `scriptWatchLimits`. Tests use
   * shorter times.
   */
  readonly silence?: Partial<ScriptWatchLimits>;
}

/** Time between SIGINT and SIGKILL for the engine, in milliseconds. */
const graceMilliseconds = 10_000;

/**
 * Starts the process of an operation early, when the caller does not know yet whether an operation
 * follows. The process loads Pulumi's modules, and also the program if `program` is given.
 */
export function prepareWorker(
  { program }: Omit<z.input<typeof loadProgramMessageSchema>, "type">,
  environment: WorkerEnvironment,
): ChildProcess {
  const child = startWorker(environment);
  // Errors are ignored here, because the operation that uses the process reports them.
  child.on("error", () => undefined);
  const load = { type: "load", program } satisfies z.input<typeof loadProgramMessageSchema>;
  child.send(load, () => undefined);
  return child;
}

function forwardLines(child: ChildProcess, onLine: (line: string) => void): void {
  for (const stream of [child.stdout, child.stderr]) {
    let rest = "";
    stream?.setEncoding("utf8").on("data", (part: string) => {
      const lines = (rest + part).split("\n");
      rest = lines.pop() ?? "";
      for (const line of lines) onLine(line);
    });
  }
}

/** Sends a signal to the child's process group. Returns whether the group still has a process. */
function signalGroup({ pid }: ChildProcess, signal: NodeJS.Signals | 0): boolean {
  try {
    return pid !== undefined && process.kill(-pid, signal);
  } catch {
    return false;
  }
}

/**
 * Stops the engine of a worker that ended without a reply. Otherwise, the engine would continue
 * without a reader of its events, and would keep the lock.
 */
async function endEngine(child: ChildProcess): Promise<void> {
  const end = Date.now() + graceMilliseconds;
  for (let signal: NodeJS.Signals | 0 = "SIGINT"; signalGroup(child, signal); signal = 0) {
    if (Date.now() > end) {
      signalGroup(child, "SIGKILL");
      return;
    }
    await pause(50);
  }
}

interface Stops {
  /** Lets running steps finish, and starts no more steps. */
  readonly cancel: () => void;
  /** Kills the engine: SIGINT first, and SIGKILL after `graceMilliseconds`. */
  readonly kill: () => void;
}

const stopsOf = (child: ChildProcess): Stops => ({
  cancel: () => {
    if (child.connected) child.send(cancelMessage);
  },
  kill: () => {
    // After the child has ended, its PID may belong to another process.
    const end = (signal: NodeJS.Signals): void => {
      if (child.exitCode === null && child.signalCode === null) signalGroup(child, signal);
    };
    end("SIGINT");
    setTimeout(end, graceMilliseconds, "SIGKILL").unref();
  },
});

function listenToSignals({ cancel, kill }: Stops, options: WorkerRunOptions): void {
  for (const [signal, act] of [
    [options.signal, cancel],
    [options.killSignal, kill],
  ] as const) {
    if (signal?.aborted === true) act();
    else signal?.addEventListener("abort", act, { once: true });
  }
}

/** Runs one operation in its own process. Throws a Failure. */
export async function runOperation(
  request: OperationRequest,
  options: WorkerRunOptions,
  child: ChildProcess = startWorker(options),
): Promise<void> {
  const printed: string[] = [];
  forwardLines(child, (line) => {
    printed.push(line);
    options.onOutput?.(line);
  });
  const events: DecodedEngineEvent[] = [];
  let reply: Extract<WorkerReply, { type: "done" | "failed" }> | undefined;
  const stops = stopsOf(child);
  const { watch, stop } = watchScripts({ ...stops, env: options.env, times: options.silence });
  child.on("message", (message) => {
    const received = workerReplySchema.parse(message);
    if (received.type === "done" || received.type === "failed") {
      reply = received;
      return;
    }
    if (received.type === "held") options.onHeld?.();
    else {
      const { event } = received;
      if (!event) return;
      if (event.type === "message") events.push(event);
      watch.processEvent(event);
      options.onEvent(event);
    }
  });
  child.send(request);
  listenToSignals(stops, options);
  await new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => {
      resolve();
    });
  }).finally(stop);
  if (reply === undefined) await endEngine(child);
  if (reply?.type === "done") return;
  if (watch.scriptTimeout) throw createScriptTimeoutError(watch.scriptTimeout);
  throw failureOf(reply, { events, printed, cancelled: options.signal?.aborted === true });
}

interface Circumstances {
  readonly events: readonly DecodedEngineEvent[];
  readonly printed: readonly string[];
  readonly cancelled: boolean;
}

function failureOf(
  reply: Extract<WorkerReply, { type: "failed" }> | undefined,
  { events, printed, cancelled }: Circumstances,
): Failure {
  if (reply?.kind === "locked") {
    const by = parseLocksFromMessage(reply.text).map(describeLock).join(" and ");
    const whose = by === "" ? "" : `: ${by}`;
    return new Failure("STACK_LOCKED", `Another operation holds this stack${whose}.`);
  }
  if (reply?.kind === "not-found")
    return new Failure("STACK_NOT_FOUND", "The backend has no stack with this name.");
  if (cancelled)
    return new Failure(
      "CANCELLED",
      "Stopped on request. What was done is kept.",
      "Run the same command again to continue, or `stackadm destroy` to delete the cluster.",
    );
  const [explained] = explainMessages(events);
  if (explained) return explained;
  const killed = reply === undefined || reply.kind === "killed";
  return killed
    ? new Failure("ENGINE_KILLED", `The engine ended without a result${lastWords(printed)}.`)
    : explainMessage({ urn: "", text: errorText(reply.text) });
}

/**
 * Returns the error message of a process that died: the last line with "error", or the last line if
 * no line contains "error".
 */
function lastWords(printed: readonly string[]): string {
  const lines = printed.filter((line) => line.trim() !== "");
  const words = lines.findLast((line) => /error/i.test(line)) ?? lines.at(-1);
  return words === undefined ? "" : `: ${words.trim()}`;
}

/**
 * Returns the useful lines of an error of the SDK. Such an error has the form
 * `code: ... stdout: ... stderr: ...`.
 */
function errorText(text: string): string {
  const stderr = /stderr: ([\s\S]*?)\n err\?:/.exec(text)?.[1] ?? text;
  const lines = stderr.split("\n").filter((line) => /error:|fatal|panic|ERR/i.test(line));
  return (lines.length > 0 ? lines.join("\n") : stderr)
    .replace(/^Command failed[^\n]*\n/, "")
    .trim();
}
