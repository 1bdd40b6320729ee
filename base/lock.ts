import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { writeNew } from "./files.js";
import { processFacts } from "./process.js";
import { UserError } from "./user-error.js";

export interface LockHolder {
  readonly pid: number;
  /** When the holder's process started, in clock ticks after boot: tells a reused pid from the holder. */
  readonly started: string;
  /** What the holder is doing, for people. */
  readonly purpose: string;
}

export interface LockOptions {
  /** What this process wants to do, shown to whoever waits. */
  readonly purpose: string;
  /** How long to wait for another holder, in ms. Default: 0, refuse at once. */
  readonly waitMs?: number;
  /** Called once when the lock is held by another process. */
  readonly onWait?: (holder: LockHolder) => void;
  readonly signal?: AbortSignal;
}

/**
 * Runs `work` while this process alone holds `file`. A lock whose process is gone (killed, rebooted) is taken over.
 * Throws UserError naming the holder when it does not get the lock in time.
 */
export async function withLock<T>(
  file: string,
  options: LockOptions,
  work: () => Promise<T>,
): Promise<T> {
  mkdirSync(dirname(file), { recursive: true });
  const deadline = Date.now() + (options.waitMs ?? 0);
  let told = false;
  for (;;) {
    const holder = take(file, options.purpose);
    if (!holder) break;
    if (!told) options.onWait?.(holder);
    told = true;
    if (Date.now() >= deadline) {
      throw new UserError(
        `Process ${holder.pid} is busy here (${holder.purpose}).`,
        "Wait until it has ended, or end it, and run this again.",
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

/** Takes the lock and returns undefined, or returns who has it. */
function take(file: string, purpose: string): LockHolder | undefined {
  const own: LockHolder = {
    pid: process.pid,
    started: processFacts(process.pid)?.started ?? "",
    purpose,
  };
  for (let attempt = 0; attempt < 3; attempt++) {
    if (writeNew(file, JSON.stringify(own))) return undefined;
    const holder = read(file);
    if (holder && processFacts(holder.pid)?.started === holder.started) return holder;
    rmSync(file, { force: true });
  }
  return read(file) ?? { pid: 0, started: "", purpose: "unknown" };
}

function read(file: string): LockHolder | undefined {
  try {
    return JSON.parse(readFileSync(file, "utf8")) as LockHolder;
  } catch {
    return undefined; // just removed
  }
}
