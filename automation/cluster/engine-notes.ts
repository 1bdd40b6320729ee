import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { hostname, uptime } from "node:os";
import { basename, join } from "node:path";
import { z } from "zod";
import { writePrivate } from "../../base/files.js";
import {
  isEarlierBoot,
  processFacts,
  processPlace,
  type ProcessPlace,
} from "../../base/process.js";
import type { LockHolder } from "./engine-locks.js";

/*
 * The engine writes only host name and process number into a lock. Two containers may share both,
 * and another process may get the number later. So each engine that may take a lock is noted when
 * it starts, with its process and its place (boot, namespace, machine): only this proves that a
 * holder is dead. The notes are in the stack's private directory, with every backend.
 */

const processSchema = z.object({
  pid: z.number(),
  /** Start time, in clock ticks after boot. */
  started: z.string(),
});

const noteSchema = processSchema.extend({
  /** Process that waits for the engine's result. Absent: unknown. */
  client: processSchema.optional(),
  host: z.string(),
  /** Time of the note, in milliseconds since 1970. */
  at: z.number(),
  place: z.object({
    boot: z.string(),
    namespace: z.string(),
    machine: z.string().optional(),
  }),
});
export type EngineNote = z.infer<typeof noteSchema>;

const folderOf = (directory: string): string => join(directory, "engines");
const fileOf = (directory: string, { pid, started }: EngineNote): string =>
  join(folderOf(directory), `${String(pid)}-${started}.json`);

/**
 * Notes an engine that was just started. Returns a function that deletes the note.
 *
 * @param directory private directory of the stack
 * @param client number of the process that waits for the engine's result
 */
export function noteEngine(directory: string, pid: number, client = process.pid): () => void {
  const [place, facts, waiting] = [processPlace(), processFacts(pid), processFacts(client)];
  // Without a note, nothing proves that a killed engine is dead: the user has to confirm it.
  if (!place || !facts) return () => undefined;
  const note: EngineNote = {
    ...{ pid, started: facts.started, host: hostname(), at: Date.now(), place },
    ...(waiting && { client: { pid: client, started: waiting.started } }),
  };
  const file = fileOf(directory, note);
  try {
    writePrivate(file, JSON.stringify(note));
  } catch {
    return () => undefined;
  }
  return () => {
    rmSync(file, { force: true });
  };
}

/**
 * Notes every engine that this process starts, also those that the SDK starts. Returns a function
 * that stops this and deletes the notes, except those of killed engines. Call it when the engines
 * have released their locks. The client of these engines is the process that started this one.
 */
export function noteEngines(directory: string): () => void {
  // Read now: once the parent has exited, this number is another process's.
  const client = process.ppid;
  const forgets: (() => void)[] = [];
  const onCreated = (message: unknown): void => {
    const { process: child } = message as { readonly process: ChildProcess };
    child.once("spawn", () => {
      if (child.pid === undefined || basename(child.spawnfile) !== "pulumi") return;
      const forget = noteEngine(directory, child.pid, client);
      forgets.push(() => {
        if (child.exitCode !== null) forget();
      });
    });
  };
  subscribe("child_process", onCreated);
  return () => {
    unsubscribe("child_process", onCreated);
    for (const forget of forgets) forget();
  };
}

function readNote(file: string): EngineNote[] {
  try {
    return [noteSchema.parse(JSON.parse(readFileSync(file, "utf8")))];
  } catch {
    return []; // deleted since it was listed, or of another release
  }
}

/** Returns the notes of a stack's engines. */
export function notesIn(directory: string): EngineNote[] {
  const folder = folderOf(directory);
  try {
    return readdirSync(folder).flatMap((name) => readNote(join(folder, name)));
  } catch {
    return []; // no engine was noted
  }
}

/** Place from which the program checks whether an engine has ended. */
export interface Here {
  readonly place: ProcessPlace | undefined;
  readonly host: string;
  /** Boot time of the machine, in milliseconds since 1970. */
  readonly booted: number;
}
const currentPlace = (): Here => ({
  place: processPlace(),
  host: hostname(),
  booted: Date.now() - uptime() * 1_000,
});

const isSamePlace = (place: ProcessPlace, { boot, namespace }: ProcessPlace): boolean =>
  place.boot === boot && place.namespace === namespace;

/**
 * Returns whether the engine has certainly ended: its process is gone, the number belongs to
 * another process, or the machine was rebooted since.
 */
export function hasEnded(note: EngineNote, here: Here = currentPlace()): boolean {
  if (!here.place) return false;
  if (isSamePlace(note.place, here.place)) return processFacts(note.pid)?.started !== note.started;
  // Copies of a machine may share its ID, but not both its name and its boot time.
  return isEarlierBoot(note.place, here.place) && note.host === here.host && note.at < here.booted;
}

/**
 * Milliseconds around the note's time in which the engine takes its lock. The lock's time may be
 * rounded to seconds.
 */
const [before, after] = [5_000, 300_000];

/** Returns whether the holder of this lock is the noted engine. */
const isHolder = ({ pid, host, at }: EngineNote, holder: LockHolder): boolean => {
  const since = holder.since.getTime();
  return pid === holder.pid && host === holder.host && since > at - before && since < at + after;
};

/** Returns whether a note proves that the holder is dead. */
export const proveDead = (
  notes: readonly EngineNote[],
  holder: LockHolder,
  here: Here = currentPlace(),
): boolean => notes.some((note) => isHolder(note, holder) && hasEnded(note, here));

/**
 * Returns whether an engine still runs here although its client has ended. Such an engine was told
 * to stop and exits when its current operations are done.
 */
export const isLeftAlone = (
  { client, ...note }: EngineNote,
  here: Here = currentPlace(),
): boolean =>
  client !== undefined &&
  here.place !== undefined &&
  isSamePlace(note.place, here.place) &&
  !hasEnded(note, here) &&
  processFacts(client.pid)?.started !== client.started;

/** Returns the note of a holder whose client has ended, but which still runs. */
export const noteOfEnding = (
  notes: readonly EngineNote[],
  holder: LockHolder,
  here: Here = currentPlace(),
): EngineNote | undefined =>
  notes.find((note) => isHolder(note, holder) && isLeftAlone(note, here));

/**
 * Deletes the notes of a stack that is not locked. Keeps those of engines that run here, which may
 * be about to take the lock.
 */
export function forgetEngines(directory: string): void {
  const { place } = currentPlace();
  for (const note of notesIn(directory)) {
    const runs = place && isSamePlace(note.place, place) && !hasEnded(note);
    if (!runs) rmSync(fileOf(directory, note), { force: true });
  }
}
