import { mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { createHardLink, createPrivateFile } from "./atomic-files.js";
import { readProcessIdentity } from "./process-identity.js";
import { Failure } from "./failures/failure.js";
import { isMissingFileError } from "./failures/expected-errors.js";

export interface LockHolder {
  readonly pid: number;
  /**
   * Start time of the holder's process, in clock ticks after boot. A later process may have the
   * same PID, but it has another start time.
   */
  readonly started: string;
  /** Description of the holder's work, for users. */
  readonly purpose: string;
}

export interface LockOptions {
  /** Description of this process's work. Processes that wait for the lock show the description. */
  readonly purpose: string;
  /** Milliseconds to wait for a lock that another process holds. Default: 0, no wait. */
  readonly waitMs?: number;
  /** Called once if another process holds the lock. */
  readonly onWait?: (holder: LockHolder) => void;
  readonly signal?: AbortSignal;
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
  const deadline = Date.now() + (options.waitMs ?? 0);
  let isReported = false;
  for (;;) {
    const holder = take(file, options.purpose);
    if (!holder) break;
    if (!isReported) options.onWait?.(holder);
    isReported = true;
    if (Date.now() >= deadline) {
      throw new Failure(
        "FAILED",
        `Process ${holder.pid} holds this lock (${holder.purpose}).`,
        "Wait until it ends, or end it, then run the same command again.",
      );
    }
    await delay(200, undefined, { signal: options.signal });
  }
  try {
    return await work();
  } finally {
    rmSync(file, { force: true });
  }
}

/**
 * Tries to take the lock. Returns undefined on success. Returns the holder if another process holds
 * the lock.
 */
function take(file: string, purpose: string): LockHolder | undefined {
  const own: LockHolder = {
    pid: process.pid,
    started: readProcessIdentity(process.pid)?.started ?? "",
    purpose,
  };
  for (let attempt = 0; attempt < 3; attempt++) {
    if (createPrivateFile(file, JSON.stringify(own))) return undefined;
    const text = read(file);
    const holder = holderIn(text);
    if (holder && isAlive(holder)) return holder;
    if (text !== undefined) clear(file, text);
  }
  return holderIn(read(file)) ?? { pid: 0, started: "", purpose: "unknown" };
}

/**
 * Returns whether the holder's process still exists. Compares only the PID on systems without
 * /proc, for example macOS.
 */
function isAlive({ pid, started }: LockHolder): boolean {
  if (readProcessIdentity(process.pid)) return readProcessIdentity(pid)?.started === started;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/**
 * Deletes the lock file of a process that no longer exists. In the meantime, another process may
 * have deleted this file and taken the lock. The file then does not contain `text`, and this
 * function restores the file.
 */
function clear(file: string, text: string): void {
  const aside = `${file}.${process.pid.toString()}.gone`;
  try {
    renameSync(file, aside);
  } catch (error) {
    if (isMissingFileError(error)) return; // Another process has moved the file.
    throw error;
  }
  if (read(aside) !== text) createHardLink(aside, file);
  rmSync(aside, { force: true });
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    if (isMissingFileError(error)) return undefined; // Another process has deleted the file.
    throw error;
  }
}

function holderIn(text: string | undefined): LockHolder | undefined {
  try {
    return JSON.parse(text ?? "") as LockHolder;
  } catch {
    return undefined; // The file is incomplete.
  }
}
