import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { backendDirectory } from "../setup/backend.js";

/** Who holds a stack, as the engine wrote it into its lock. */
export interface LockHolder {
  readonly pid: number;
  readonly user: string;
  readonly host: string;
  readonly since: Date;
}

export interface StackLock {
  /** Absent: the backend is no directory, and only the engine knows where it is. */
  readonly file?: string;
  /** Absent: it cannot be read, so nobody knows. */
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

/** The locks on one stack. Empty for a backend that is no directory. */
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
    return undefined; // half-written, or gone since it was listed
  }
}

/** The locks of which the engine speaks when it is refused: it names each, and who made it. */
export function locksSaid(text: string): StackLock[] {
  const said = text.matchAll(/created by (.+)@(\S+) \(pid (\d+)\) at (\S+)/g);
  const locks = [...said].map(([, username, hostname, pid, timestamp]): StackLock => {
    const { data: holder } = lockSchema.safeParse({
      ...{ pid: Number(pid), username, hostname, timestamp },
    });
    return { ...(holder && { holder }) };
  });
  // The SDK passes on what the engine said more than once.
  return [...new Map(locks.map((lock) => [describeLock(lock), lock])).values()];
}

/** Does an engine of that number run on a host of that name? Then nobody takes its lock away. */
export function holderRuns({ holder }: StackLock): boolean {
  if (holder?.host !== hostname()) return false;
  try {
    return readFileSync(`/proc/${holder.pid.toString()}/comm`, "utf8").startsWith("pulumi");
  } catch {
    return false;
  }
}

/** Removes a lock in a directory, and what lies beside it. */
export function removeLock({ file }: StackLock): void {
  if (file === undefined) return;
  for (const path of [file, `${file}.attrs`]) rmSync(path, { force: true });
}

/** The engine tells the time of a lock in seconds. */
const seconds = (time: Date): string => time.toISOString().replace(/\.\d+Z$/, "Z");

/** `process 12 of root on host, since 2026-01-02T10:00:00Z`. */
export const describeLock = ({ file, holder }: StackLock): string =>
  holder
    ? `process ${holder.pid} of ${holder.user} on ${holder.host}, since ${seconds(holder.since)}`
    : `somebody unknown${file === undefined ? "" : ` (${file} cannot be read)`}`;
