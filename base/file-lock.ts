import { randomUUID } from "node:crypto";
import {
  closeSync,
  fstatSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from "node:fs";
import { hostname } from "node:os";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { createHardLink, createPrivateFile } from "./atomic-files.js";
import {
  checkProcess,
  isInSamePlace,
  referToSelf,
  type ProcessReference,
} from "./process-identity.js";
import { Failure } from "./failures/failure.js";
import type { FailureCode } from "./failures/failure-codes.js";
import {
  isInvalidFormatError,
  isMissingFileError,
  isSystemError,
} from "./failures/expected-errors.js";

/*
 * A lock is a file. Several hosts and containers may share its folder, for example a home directory
 * on NFS. A PID proves that the holder is dead only on the same boot of the same host, and in the
 * same PID namespace. Everywhere else, and on systems without /proc, a lock is stale only if its
 * holder has not written its file for `staleMilliseconds`.
 */

export interface LockHolder extends ProcessReference {
  /** Random text that distinguishes this lock from every other lock. */
  readonly token: string;
  /** Description of the holder's work, for users. */
  readonly purpose: string;
}

const holderSchema = z.object({
  pid: z.number(),
  started: z.string(),
  host: z.string(),
  at: z.number(),
  place: z
    .object({ boot: z.string(), namespace: z.string(), machine: z.string().optional() })
    .optional(),
  token: z.string(),
  purpose: z.string(),
});

/** Description of a lock file that contains no holder. */
const unknownHolder: LockHolder = {
  pid: 0,
  started: "",
  host: hostname(),
  at: 0,
  token: "",
  purpose: "unknown",
};

export interface LockOptions {
  /** Description of this process's work. Processes that wait for the lock show the description. */
  readonly purpose: string;
  /** Milliseconds to wait for a lock that another process holds. Default: 0, no wait. */
  readonly waitMs?: number;
  /** Called once if another process holds the lock. */
  readonly onWait?: (holder: LockHolder) => void;
  readonly signal?: AbortSignal;
  /** Code of the failure if the lock does not become free in time. Default: FAILED. */
  readonly code?: FailureCode;
}

/** Time in milliseconds between two heartbeats of a holder. */
const beatMilliseconds = 5_000;

/** Age in milliseconds of the last heartbeat at which a lock is stale. */
const staleMilliseconds = 30_000;

/**
 * Longest normal time in milliseconds between two tries to get a lock. A longer time means that this
 * process was suspended, for example with the laptop, or that the clock was set.
 */
const gapMilliseconds = 5_000;

/**
 * Returns a function for each try to get a lock. The function returns whether the age of a heartbeat
 * is meaningful. After a suspension, the holder may have had no time for a heartbeat yet.
 */
function watchSuspension(): () => boolean {
  let triedAt = Date.now();
  let resumedAt = 0;
  return () => {
    const now = Date.now();
    if (now - triedAt > gapMilliseconds) resumedAt = now;
    triedAt = now;
    return now - resumedAt > staleMilliseconds;
  };
}

/**
 * Runs `work` while this process has the lock `file`. Takes over the lock of a process that no
 * longer exists (killed, rebooted). Throws a Failure that names the holder if the lock does not
 * become free in time.
 */
export async function withLock<T>(
  file: string,
  options: LockOptions,
  work: () => Promise<T>,
): Promise<T> {
  mkdirSync(dirname(file), { recursive: true });
  const deadline = performance.now() + (options.waitMs ?? 0);
  const isAgeMeaningful = watchSuspension();
  let isReported = false;
  let taken: { readonly text: string } | LockHolder;
  for (;;) {
    taken = take(file, options.purpose, isAgeMeaningful());
    if ("text" in taken) break;
    if (!isReported) options.onWait?.(taken);
    isReported = true;
    if (performance.now() >= deadline) throw createHeldError(taken, options);
    await delay(200, undefined, { signal: options.signal });
  }
  const { text } = taken;
  const stopHeartbeat = startHeartbeat(file, text);
  try {
    return await work();
  } finally {
    stopHeartbeat();
    if (read(file)?.text === text) clear(file, text);
  }
}

function createHeldError(holder: LockHolder, { code = "FAILED" }: LockOptions): Failure {
  const where = isInSamePlace(holder) ? "" : ` on ${holder.host}`;
  return new Failure(
    code,
    `Process ${holder.pid}${where} holds this lock (${holder.purpose}).`,
    "Wait until it ends, or end it, then run the same command again.",
  );
}

/**
 * Tries to take the lock. Returns the content of the lock file on success. Returns the holder if
 * another process holds the lock.
 */
function take(
  file: string,
  purpose: string,
  isAgeMeaningful: boolean,
): { readonly text: string } | LockHolder {
  const text = JSON.stringify({ ...referToSelf(), token: randomUUID(), purpose });
  for (let attempt = 0; attempt < 3; attempt++) {
    if (createPrivateFile(file, text)) return { text };
    const found = read(file);
    if (!found) continue; // Another process has deleted the file.
    const holder = parseHolder(found.text);
    const beat = isAgeMeaningful ? found.beat : undefined;
    if (!isStale(file, holder, beat)) return holder ?? unknownHolder;
    clear(file, found.text);
  }
  return parseHolder(read(file)?.text) ?? unknownHolder;
}

/**
 * Returns whether the holder has certainly ended, or has sent no heartbeat for too long.
 *
 * @param beat time of the last heartbeat, according to the file system's clock. Undefined: unknown
 */
function isStale(file: string, holder: LockHolder | undefined, beat: number | undefined): boolean {
  const state = holder ? checkProcess(holder) : "unknown";
  if (state !== "unknown") return state === "dead";
  return beat !== undefined && readFileSystemTime(file) - beat > staleMilliseconds;
}

/**
 * Returns the time of the file system that contains `file`, in milliseconds since 1970. The clock
 * of a file server may differ from the clock of this host.
 */
function readFileSystemTime(file: string): number {
  const probe = `${file}.${randomUUID()}.time`;
  try {
    createPrivateFile(probe, "");
    return statSync(probe).mtimeMs;
  } finally {
    rmSync(probe, { force: true });
  }
}

/**
 * Writes the content of this process's lock file again at intervals, so that other hosts see that
 * the holder is alive. Returns a function that stops this. The file stays open, so that no write
 * can reach the lock file of another process.
 */
function startHeartbeat(file: string, text: string): () => void {
  let open: number;
  try {
    // Writes reach a file server immediately. Otherwise, the kernel may delay them by more than 30 s.
    open = openSync(file, "rs+");
  } catch (error) {
    if (isMissingFileError(error)) return () => undefined;
    throw error;
  }
  if (readFileSync(open, "utf8") !== text) {
    closeSync(open);
    return () => undefined;
  }
  const beat = setInterval(() => {
    try {
      writeSync(open, text, 0);
    } catch (error) {
      if (!isSystemError(error)) throw error; // For example a full disk: the work continues.
    }
  }, beatMilliseconds);
  beat.unref();
  return () => {
    clearInterval(beat);
    closeSync(open);
  };
}

/**
 * Deletes the lock file with this content. In the meantime, another process may have deleted this
 * file and taken the lock. The file then does not contain `text`, and this function restores the
 * file.
 */
function clear(file: string, text: string): void {
  const aside = `${file}.${randomUUID()}.gone`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if (isMissingFileError(error)) return; // Another process has moved the file.
    throw error;
  }
  if (read(aside)?.text !== text) createHardLink(aside, file);
  rmSync(aside, { force: true });
}

/** Returns the content of a lock file and the time of its last heartbeat. */
function read(file: string): { readonly text: string; readonly beat: number } | undefined {
  let open: number;
  try {
    open = openSync(file, "r");
  } catch (error) {
    if (isMissingFileError(error)) return undefined; // Another process has deleted the file.
    throw error;
  }
  try {
    return { text: readFileSync(open, "utf8"), beat: fstatSync(open).mtimeMs };
  } finally {
    closeSync(open);
  }
}

/** Returns the holder. Returns undefined if the content is incomplete. */
function parseHolder(text = ""): LockHolder | undefined {
  try {
    return holderSchema.parse(JSON.parse(text));
  } catch (error) {
    if (isInvalidFormatError(error)) return undefined;
    throw error;
  }
}
