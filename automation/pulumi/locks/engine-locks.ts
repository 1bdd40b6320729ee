import { hostname } from "node:os";
import { basename } from "node:path";
import { z } from "zod";
import { readProcessName } from "../../../base/process-identity.js";
import { deleteLockFile, readLockFiles } from "../pulumi-internals.js";

/** Process that holds a stack's lock, according to the lock's content. */
export interface LockHolder {
  readonly pid: number;
  readonly user: string;
  readonly host: string;
  readonly since: Date;
}

export interface StackLock {
  /** Path of the lock file. Absent: the backend is not a directory. */
  readonly file?: string;
  /** UUID of the lock. Each engine creates a new UUID. Absent: Pulumi Cloud, which names no locks. */
  readonly id?: string;
  /** Process that holds the lock. Absent: the lock cannot be read. */
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

/** Returns the locks on one stack. Returns an empty list if the backend is not a directory. */
export const readStackLocks = (backend: string, project: string, stack: string): StackLock[] =>
  readLockFiles({ backend, project, stack }).map(({ file, content }): StackLock => {
    const { data: holder } = lockSchema.safeParse(content);
    return { file, id: basename(file, ".json"), ...(holder && { holder }) };
  });

/** Returns the locks that the engine's error message about a locked stack describes. */
export function parseLocksFromMessage(text: string): StackLock[] {
  const matches = text.matchAll(
    /(?:\/([^/\s]+)\.json\S*: )?created by (.+)@(\S+) \(pid (\d+)\) at (\S+)/g,
  );
  const locks = [...matches].map(([, id, username, hostname, pid, timestamp]): StackLock => {
    const { data: holder } = lockSchema.safeParse({
      pid: Number(pid),
      username,
      hostname,
      timestamp,
    });
    return { ...(id !== undefined && { id }), ...(holder && { holder }) };
  });
  // The SDK repeats the engine's message, so the same lock may occur twice.
  const keyOf = (lock: StackLock): string => `${lock.id ?? ""} ${describeLock(lock)}`;
  return [...new Map(locks.map((lock) => [keyOf(lock), lock])).values()];
}

/**
 * Returns whether a Pulumi process with the holder's PID runs on this host. The lock of such a
 * process must not be removed.
 */
export function isHolderRunning({ holder }: StackLock, readName = readProcessName): boolean {
  if (holder?.host !== hostname()) return false;
  return basename(readName(holder.pid) ?? "").startsWith("pulumi");
}

/** Removes a lock. Does nothing if the backend is not a directory. */
export function removeLock({ file }: StackLock): void {
  if (file !== undefined) deleteLockFile(file);
}

/** Formats a time with a precision of seconds, as the engine prints the time of a lock. */
const seconds = (time: Date): string => time.toISOString().replace(/\.\d+Z$/, "Z");

/** Describes a lock: `process 12 of root on host, since 2026-01-02T10:00:00Z`. */
export const describeLock = ({ file, holder }: StackLock): string =>
  holder
    ? `process ${holder.pid} of ${holder.user} on ${holder.host}, since ${seconds(holder.since)}`
    : `an unknown process${file === undefined ? "" : ` (${file} cannot be read)`}`;
