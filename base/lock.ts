import { mkdirSync, readFileSync, renameSync, rmSync } from "node:fs";
import { dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { linkNew, writeNew } from "./files.js";
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
    const text = read(file);
    const holder = holderIn(text);
    if (holder && isAlive(holder)) return holder;
    if (text !== undefined) clear(file, text);
  }
  return holderIn(read(file)) ?? { pid: 0, started: "", purpose: "unknown" };
}

/** Without /proc, as on macOS, a process is known by its number alone. */
function isAlive({ pid, started }: LockHolder): boolean {
  if (processFacts(process.pid)) return processFacts(pid)?.started === started;
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Takes away the file of one that is gone. What somebody else has put there since is put back: two may find the same one gone. */
function clear(file: string, text: string): void {
  const aside = `${file}.${process.pid.toString()}.gone`;
  try {
    renameSync(file, aside);
  } catch {
    return; // somebody else was first
  }
  if (read(aside) !== text) linkNew(aside, file);
  rmSync(aside, { force: true });
}

function read(file: string): string | undefined {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return undefined; // just removed
  }
}

function holderIn(text: string | undefined): LockHolder | undefined {
  try {
    return JSON.parse(text ?? "") as LockHolder;
  } catch {
    return undefined; // half written
  }
}
