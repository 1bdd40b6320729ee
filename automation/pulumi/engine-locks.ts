import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { backendDirectory } from "./backend.js";

/** Process that holds a stack's lock, as the engine wrote it into the lock. */
export interface LockHolder {
  readonly pid: number;
  readonly user: string;
  readonly host: string;
  readonly since: Date;
}

export interface StackLock {
  /** Path of the lock. Absent: the backend is no directory. */
  readonly file?: string;
  /** Holder of the lock. Absent: the lock cannot be read. */
  readonly holder?: LockHolder;
}

const lockSchema = z
  .object({
    pid: z.number(),
    username: z.string(),
    hostname: z.string(),
    timestamp: z.coerce.date(),
  })
  .transform(({ pid, username: user, hostname: host, timestamp: since }): LockHolder => {
    return { pid, user, host, since };
  });

/** Returns the locks on one stack. Empty for a backend that is no directory. */
export function stackLocks(backend: string, project: string, stack: string): StackLock[] {
  const root = backendDirectory(backend);
  if (root === undefined) return [];
  const directory = join(root, ".pulumi", "locks", "organization", project, stack);
  if (!existsSync(directory)) return [];
  return readdirSync(directory)
    .filter((entry) => !entry.endsWith(".attrs"))
    .flatMap((entry): StackLock[] => {
      const file = join(directory, entry);
      const { success, data: holder } = lockSchema.safeParse(readJson(file));
      if (!success) return existsSync(file) ? [{ file }] : [];
      return [{ file, holder }];
    });
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined; // half-written, or deleted since it was listed
  }
}

/**
 * Returns the locks in the engine's message about a locked stack. The message names the holder of
 * each lock.
 */
export function locksInMessage(text: string): StackLock[] {
  const said = text.matchAll(/created by (.+)@(\S+) \(pid (\d+)\) at (\S+)/g);
  const locks = [...said].map(([, username, hostname, pid, timestamp]): StackLock => {
    const { data: holder } = lockSchema.safeParse({
      pid: Number(pid),
      username,
      hostname,
      timestamp,
    });
    return { ...(holder && { holder }) };
  });
  // The SDK repeats the engine's message, so a lock may occur twice.
  return [...new Map(locks.map((lock) => [describeLock(lock), lock])).values()];
}

/**
 * Returns whether a Pulumi process with the holder's PID runs on this host. The lock must not be
 * removed then.
 */
export function isHolderRunning({ holder }: StackLock): boolean {
  if (holder?.host !== hostname()) return false;
  try {
    return readFileSync(`/proc/${holder.pid.toString()}/comm`, "utf8").startsWith("pulumi");
  } catch {
    return false;
  }
}

/** Removes a lock of a directory backend, and the lock's attributes file. */
export function removeLock({ file }: StackLock): void {
  if (file === undefined) return;
  for (const path of [file, `${file}.attrs`]) rmSync(path, { force: true });
}

/** Formats a time as the engine prints the time of a lock: in seconds. */
const seconds = (time: Date): string => time.toISOString().replace(/\.\d+Z$/, "Z");

/** Describes a lock: `process 12 of root on host, since 2026-01-02T10:00:00Z`. */
export const describeLock = ({ file, holder }: StackLock): string =>
  holder
    ? `process ${holder.pid} of ${holder.user} on ${holder.host}, since ${seconds(holder.since)}`
    : `an unknown process${file === undefined ? "" : ` (${file} cannot be read)`}`;
