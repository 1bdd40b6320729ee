import { existsSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";

/** Who holds a stack of a file backend. */
export interface StackLock {
  readonly file: string;
  readonly pid: number;
  readonly user: string;
  readonly host: string;
  readonly since: Date;
}

const lockSchema = z.object({
  pid: z.number(),
  username: z.string(),
  hostname: z.string(),
  timestamp: z.string(),
});

/** The directory of a `file://` backend; undefined for any other. */
export function backendDirectory(backend: string): string | undefined {
  if (!backend.startsWith("file://")) return undefined;
  const [plain = ""] = backend.split("?");
  return fileURLToPath(plain.replace(/^file:\/\/~/, `file://${process.env["HOME"] ?? ""}`));
}

/** The locks on one stack. Empty for a backend that is no directory. */
export function stackLocks(backend: string, project: string, stack: string): StackLock[] {
  const root = backendDirectory(backend);
  if (root === undefined) return [];
  const directory = join(root, ".pulumi", "locks", "organization", project, stack);
  if (!existsSync(directory)) return [];
  return readdirSync(directory).flatMap((entry) => {
    const file = join(directory, entry);
    const parsed = lockSchema.safeParse(readJson(file));
    if (!parsed.success) return [];
    const { pid, username: user, hostname: host, timestamp } = parsed.data;
    return [{ file, pid, user, host, since: new Date(timestamp) }];
  });
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined; // half-written, or gone since it was listed
  }
}

/** Is the holder certainly dead: a process of this host that does not run, or is no Pulumi any more? */
export function holderIsDead(lock: StackLock, host = hostname()): boolean {
  if (lock.host !== host) return false;
  try {
    return !readFileSync(`/proc/${lock.pid}/comm`, "utf8").startsWith("pulumi");
  } catch {
    return !existsSync(`/proc/${lock.pid}`) && existsSync("/proc/self");
  }
}

/** Removes the locks of holders that are certainly dead; answers those, and the locks that stay. */
export function removeDeadLocks(
  backend: string,
  project: string,
  stack: string,
): { readonly removed: StackLock[]; readonly held: StackLock[] } {
  const all = stackLocks(backend, project, stack);
  const removed = all.filter((lock) => holderIsDead(lock));
  // Beside each lock lies a file with its attributes.
  for (const { file } of removed)
    for (const path of [file, `${file}.attrs`]) rmSync(path, { force: true });
  return { removed, held: all.filter((lock) => !removed.includes(lock)) };
}

/** `process 12 of root on host, since 10:00:00`. */
export const describeLock = (lock: StackLock): string =>
  `process ${lock.pid} of ${lock.user} on ${lock.host}, since ${lock.since.toISOString()}`;
