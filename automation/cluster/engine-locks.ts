import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { basename, dirname, join } from "node:path";
import { z } from "zod";
import { stateDirectory } from "../../base/paths.js";
import { processFacts, processPlace } from "../../base/process.js";
import { backendDirectory } from "../setup/backend.js";

/** Who holds a stack of a file backend. */
export interface LockHolder {
  readonly pid: number;
  readonly user: string;
  readonly host: string;
  readonly since: Date;
}

export interface StackLock {
  readonly file: string;
  /** Absent: the file cannot be read, so nobody knows. */
  readonly holder?: LockHolder;
}

const lockSchema = z.object({
  pid: z.number(),
  username: z.string(),
  hostname: z.string(),
  timestamp: z.string(),
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
      const parsed = lockSchema.safeParse(readJson(file));
      if (!parsed.success) return existsSync(file) ? [{ file }] : [];
      const { pid, username: user, hostname: host, timestamp } = parsed.data;
      return [{ file, holder: { pid, user, host, since: new Date(timestamp) } }];
    });
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, "utf8"));
  } catch {
    return undefined; // half-written, or gone since it was listed
  }
}

/*
 * The engine writes into a lock a host name and a process number, which two containers may have alike and another process may
 * get later. So whoever runs an engine notes which lock is its own, where that was and which process: only that proves that a
 * holder is dead. The name of a lock's file is random, and so names it among all.
 */

const noteSchema = z.object({ place: z.string(), pid: z.number(), started: z.string() });

const noteOf = ({ file }: StackLock): string => stateDirectory("locks", basename(file));

/** Notes the locks that processes of this group hold; answers what takes the notes of those away that are given back. */
export function noteLocks(locks: readonly StackLock[], group: number): () => void {
  const place = processPlace();
  const noted = locks.filter((lock) => {
    const { pid, host } = lock.holder ?? {};
    const facts = pid === undefined ? undefined : processFacts(pid);
    if (place === undefined || host !== hostname() || facts?.group !== group) return false;
    const note = noteOf(lock);
    mkdirSync(dirname(note), { recursive: true, mode: 0o700 });
    writeFileSync(note, JSON.stringify({ place, pid, started: facts.started }));
    return true;
  });
  return () => {
    for (const lock of noted) if (!existsSync(lock.file)) rmSync(noteOf(lock), { force: true });
  };
}

/** Is the holder certainly dead: noted as a process of this place that is gone, or whose number is another's by now? */
export function holderIsDead(lock: StackLock): boolean {
  const note = noteSchema.safeParse(readJson(noteOf(lock)));
  if (!note.success || note.data.place !== processPlace()) return false;
  const { pid, started } = note.data;
  return lock.holder?.pid === pid && processFacts(pid)?.started !== started;
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

/** Removes a lock, and what lies beside it. */
export function removeLock(lock: StackLock): void {
  for (const path of [lock.file, `${lock.file}.attrs`, noteOf(lock)]) rmSync(path, { force: true });
}

/** `process 12 of root on host, since 10:00:00`. */
export const describeLock = ({ file, holder }: StackLock): string =>
  holder
    ? `process ${holder.pid} of ${holder.user} on ${holder.host}, since ${holder.since.toISOString()}`
    : `somebody unknown (${file} cannot be read)`;

/** The same of what the engine says when it is refused: it names every lock, and who made it. */
export function holdersSaid(text: string): string[] {
  const said = text.matchAll(/created by (.+)@(\S+) \(pid (\d+)\) at (\S+)/g);
  const holders = [...said].map(
    ([, user, host, pid, since]) => `process ${pid} of ${user} on ${host}, since ${since}`,
  );
  // The SDK passes on what the engine said more than once.
  return [...new Set(holders)];
}
