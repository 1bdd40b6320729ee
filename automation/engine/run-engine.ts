import type { ChildProcess } from "node:child_process";
import { setTimeout as pause } from "node:timers/promises";
import type { z } from "zod";
import { Lease } from "../../base/lease.js";
import { keepDespiteStop } from "../../base/failures/cancellation.js";
import { Failure } from "../../base/failures/failure.js";
import { describeLock, parseLocksFromMessage } from "../pulumi/locks/engine-locks.js";
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
import { watchProgram, type ProgramWatchLimits } from "./program-watchdog.js";
import { describeLostLease } from "./owner-heartbeat.js";
import { startWorker, type WorkerEnvironment } from "./start-worker.js";

export interface WorkerRunOptions extends WorkerEnvironment {
  readonly onEvent: (event: DecodedEngineEvent) => void;
  /** Called at each message of the worker. The engine has then read its settings. */
  readonly onMessage?: () => void;
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
  /**
   * Time limits for a program that does not end after an error. Default: `programWatchLimits`. Tests
   * use shorter times.
   */
  readonly afterError?: Partial<ProgramWatchLimits>;
}

/** Time between SIGINT and SIGKILL for the engine, in milliseconds. */
const graceMilliseconds = 10_000;

/**
 * Time in which a worker must end after its reply, in milliseconds. A program can prevent the end
 * with a timer or an open socket.
 */
const exitMilliseconds = 10_000;

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
  const end = performance.now() + graceMilliseconds;
  for (let signal: NodeJS.Signals | 0 = "SIGINT"; signalGroup(child, signal); signal = 0) {
    if (performance.now() > end) {
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

/** Listens to the signals of the caller. Returns a function that removes the listeners. */
function listenToSignals({ cancel, kill }: Stops, options: WorkerRunOptions): () => void {
  const listeners = new AbortController();
  for (const [signal, act] of [
    [options.signal, cancel],
    [options.killSignal, kill],
  ] as const) {
    if (signal?.aborted === true) act();
    else signal?.addEventListener("abort", act, { once: true, signal: listeners.signal });
  }
  return () => {
    listeners.abort();
  };
}

/** Kills a worker that does not end by itself, and closes its output. */
function endWorker(child: ChildProcess): void {
  signalGroup(child, "SIGKILL");
  // A process that left the group may keep the output open, and `close` waits for the output.
  child.stdout?.destroy();
  child.stderr?.destroy();
}

/**
 * Time in milliseconds for a worker to end its engine after the lease. The worker knows the reason,
 * such as an error of the backend.
 */
const responseMilliseconds = 10_000;

/** Time in milliseconds in which this process reads the messages that the worker has sent. */
const readingMilliseconds = 1_000;

interface WatchedLease {
  /** Receives the times that the worker reports. Undefined: there is no lease any more. */
  readonly report: (at: number | undefined) => void;
  /** Returns the error if this process has killed the engine. */
  readonly findError: () => Failure | undefined;
}

/**
 * Kills the worker and its engine if the lease of their owner ends and the worker does not do it,
 * because it is stopped or its program blocks it. Another operation may then take over the stack.
 */
function watchLease({ heartbeat }: OperationRequest, child: ChildProcess): WatchedLease {
  if (!heartbeat) return { report: () => undefined, findError: () => undefined };
  const { owner } = heartbeat;
  let [error, ended]: [Failure?, NodeJS.Timeout?] = [];
  const kill = (): void => {
    const reason = describeLostLease(owner, heartbeat, "its process does not respond");
    error = new Failure("ENGINE_KILLED", `The engine was killed, because ${reason}.`);
    endWorker(child);
  };
  const lease = new Lease(heartbeat.lease + responseMilliseconds, () => {
    // After this process was blocked, it first has to read the messages that the worker has sent.
    ended = setTimeout(kill, readingMilliseconds);
  });
  const report = (at: number | undefined): void => {
    clearTimeout(ended);
    if (at === undefined) lease.stop();
    else lease.renew(at);
  };
  return { report, findError: () => error };
}

interface WorkerConversation {
  readonly take: (event: DecodedEngineEvent) => void;
  readonly onHeld: () => void;
  readonly onLease: (at: number | undefined) => void;
  /** Called at each message of the worker, also at messages of the program. */
  readonly onMessage: () => void;
}

/** Sends the request to the worker. Waits until the worker has ended, and returns its reply. */
async function converse(
  child: ChildProcess,
  request: OperationRequest,
  { take, onHeld, onLease, onMessage }: WorkerConversation,
): Promise<FinalReply | undefined> {
  let reply: FinalReply | undefined;
  let exitTimer: NodeJS.Timeout | undefined;
  child.on("message", (message) => {
    onMessage();
    // The program runs in the same process, and may send its own messages.
    const { success, data: received } = workerReplySchema.safeParse(message);
    if (!success) return;
    if (received.type === "held") onHeld();
    else if (received.type === "lease") onLease(received.at);
    else if (received.type === "event") {
      if (received.event) take(received.event);
    } else {
      reply = received;
      exitTimer ??= setTimeout(endWorker, exitMilliseconds, child);
    }
  });
  child.send(request);
  await new Promise<void>((resolve, reject) => {
    child.once("error", reject);
    child.once("close", () => {
      resolve();
    });
  }).finally(() => {
    clearTimeout(exitTimer);
  });
  return reply;
}

type FinalReply = Extract<WorkerReply, { type: "done" | "failed" }>;

/** Runs one operation in its own process. Throws a Failure. */
export async function runOperation(
  request: OperationRequest,
  options: WorkerRunOptions,
  child: ChildProcess = startWorker(options),
): Promise<void> {
  const { env, signal } = options;
  const printed: string[] = [];
  forwardLines(child, (line) => {
    printed.push(line);
    options.onOutput?.(line);
  });
  const errors: DecodedEngineEvent[] = [];
  const stops = stopsOf(child);
  const scripts = watchScripts({ ...stops, env, times: options.silence });
  const program = watchProgram({ ...stops, limits: options.afterError });
  const lease = watchLease(request, child);
  const work = converse(child, request, {
    onMessage: () => options.onMessage?.(),
    onHeld: () => options.onHeld?.(),
    onLease: lease.report,
    take: (event) => {
      // Errors after a stop request are consequences of the stop.
      if (event.type === "message" && signal?.aborted !== true) errors.push(event);
      scripts.watch.processEvent(event);
      program.watch.processEvent(event);
      options.onEvent(event);
    },
  });
  const removeListeners = listenToSignals(stops, options);
  const reply = await work.finally(() => {
    removeListeners();
    lease.report(undefined);
    scripts.stop();
    program.stop();
  });
  const lost = lease.findError();
  if (lost) throw lost;
  if (reply === undefined) await endEngine(child);
  if (reply?.type === "done") return;
  if (reply?.kind === "lost") throw new Failure("ENGINE_KILLED", reply.text);
  if (scripts.watch.scriptTimeout) throw createScriptTimeoutError(scripts.watch.scriptTimeout);
  throw failureOf(reply, { errors, printed, cancelled: signal?.aborted === true });
}

interface Circumstances {
  /** Messages of the engine, without messages after a stop request. */
  readonly errors: readonly DecodedEngineEvent[];
  readonly printed: readonly string[];
  readonly cancelled: boolean;
}

function failureOf(
  reply: Extract<WorkerReply, { type: "failed" }> | undefined,
  { errors, printed, cancelled }: Circumstances,
): Failure {
  if (reply?.kind === "locked") {
    const by = parseLocksFromMessage(reply.text).map(describeLock).join(" and ");
    const whose = by === "" ? "" : `: ${by}`;
    return new Failure("STACK_LOCKED", `Another operation holds this stack${whose}.`);
  }
  if (reply?.kind === "not-found")
    return new Failure("STACK_NOT_FOUND", "The backend has no stack with this name.");
  const [explained] = explainMessages(errors);
  if (explained) return cancelled ? keepDespiteStop(explained) : explained;
  if (cancelled)
    return new Failure(
      "CANCELLED",
      "Stopped on request. What was done is kept.",
      "Run the same command again to continue, or `stackadm destroy` to delete the cluster.",
    );
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
