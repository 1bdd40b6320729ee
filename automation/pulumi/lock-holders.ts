import type { ChildProcess } from "node:child_process";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { hostname, uptime } from "node:os";
import { basename, join } from "node:path";
import { z } from "zod";
import { replacePrivateFile } from "../../base/atomic-files.js";
import {
  isMissingFileError,
  isInvalidFormatError,
  isSystemError,
} from "../../base/failures/expected-errors.js";
import {
  isEarlierBoot,
  readProcessIdentity,
  readPidScope,
  type PidScope,
} from "../../base/process-identity.js";
import type { LockHolder } from "./engine-locks.js";

/*
 * Finds out whether the process that holds a lock is dead. A lock of the engine contains only a
 * host name and a PID. Two containers may have the same host name and PID, and the PID of a dead
 * process may be used again. So this program writes a note about each engine that may take a lock.
 * The note contains the start time of the engine's process, and where the process runs (boot, PID
 * namespace, machine). Only such a note proves that the holder of a lock is dead. The notes are in
 * the stack's private directory, for every kind of backend.
 */

const processSchema = z.object({
  pid: z.number(),
  /** Start time of the process, in clock ticks after boot. */
  started: z.string(),
});

const noteSchema = processSchema.extend({
  /** Process that waits for the engine's result. Absent: the process is unknown. */
  client: processSchema.optional(),
  host: z.string(),
  /** Time at which the note was written, in milliseconds since 1970. */
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
 * Writes a note about an engine that was just started. Returns a function that deletes the note.
 *
 * @param directory private directory of the stack
 * @param client PID of the process that waits for the engine's result
 */
export function recordEngine(directory: string, pid: number, client = process.pid): () => void {
  const [place, facts, waiting] = [
    readPidScope(),
    readProcessIdentity(pid),
    readProcessIdentity(client),
  ];
  // Writes no note. If this engine is killed, no note proves that the engine is dead, and the user
  // must confirm this.
  if (!place || !facts) return () => undefined;
  const note: EngineNote = {
    pid,
    started: facts.started,
    host: hostname(),
    at: Date.now(),
    place,
    ...(waiting && { client: { pid: client, started: waiting.started } }),
  };
  const file = fileOf(directory, note);
  try {
    replacePrivateFile(file, JSON.stringify(note));
  } catch (error) {
    if (isSystemError(error)) return () => undefined;
    throw error;
  }
  return () => {
    rmSync(file, { force: true });
  };
}

/**
 * Writes a note about each engine that this process or the SDK starts from now on. The recorded
 * client is the parent of this process. Returns a function that stops this recording, and deletes
 * the notes except notes about killed engines. The caller must call this function after the engines
 * have released their locks.
 */
export function recordStartedEngines(directory: string): () => void {
  // Reads the value early. After the parent has exited, `process.ppid` is the PID of another
  // process.
  const client = process.ppid;
  const forgets: (() => void)[] = [];
  const onCreated = (message: unknown): void => {
    const { process: child } = message as { readonly process: ChildProcess };
    child.once("spawn", () => {
      if (child.pid === undefined || basename(child.spawnfile) !== "pulumi") return;
      const forget = recordEngine(directory, child.pid, client);
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
  } catch (error) {
    // The note was deleted after it was listed, or another release wrote it.
    if (isMissingFileError(error) || isInvalidFormatError(error)) return [];
    throw error;
  }
}

export function readEngineNotes(directory: string): EngineNote[] {
  const folder = folderOf(directory);
  try {
    return readdirSync(folder).flatMap((name) => readNote(join(folder, name)));
  } catch (error) {
    if (isMissingFileError(error)) return []; // no engine was noted
    throw error;
  }
}

/** Host and place from which a process checks whether an engine has ended. */
export interface ObservationPlace {
  readonly place: PidScope | undefined;
  readonly host: string;
  /** Boot time of this machine, in milliseconds since 1970. */
  readonly booted: number;
}
const currentPlace = (): ObservationPlace => ({
  place: readPidScope(),
  host: hostname(),
  booted: Date.now() - uptime() * 1_000,
});

const isSamePlace = (place: PidScope, { boot, namespace }: PidScope): boolean =>
  place.boot === boot && place.namespace === namespace;

/**
 * Returns whether the engine has certainly ended: its process does not exist, its PID belongs to
 * another process, or the machine was rebooted after the note.
 */
export function hasEngineEnded(note: EngineNote, here: ObservationPlace = currentPlace()): boolean {
  if (!here.place) return false;
  if (isSamePlace(note.place, here.place))
    return readProcessIdentity(note.pid)?.started !== note.started;
  // Copies of a virtual machine may have the same machine ID. But two copies do not have both the
  // same name and the same boot time.
  return isEarlierBoot(note.place, here.place) && note.host === here.host && note.at < here.booted;
}

/**
 * Time limits in milliseconds for matching a note with a lock. The engine in a note may hold a lock
 * that was taken at most `before` milliseconds before the note's time. The limit after the note's
 * time is `after`. The lock's time may be rounded to seconds.
 */
const [before, after] = [5_000, 300_000];

/** Returns whether the note may describe the holder of this lock: PID, host and time match. */
const isHolder = ({ pid, host, at }: EngineNote, holder: LockHolder): boolean => {
  const since = holder.since.getTime();
  return pid === holder.pid && host === holder.host && since > at - before && since < at + after;
};

/** Returns whether a note proves that the holder of the lock is dead. */
export const isHolderDead = (
  notes: readonly EngineNote[],
  holder: LockHolder,
  here: ObservationPlace = currentPlace(),
): boolean => notes.some((note) => isHolder(note, holder) && hasEngineEnded(note, here));

/**
 * Returns whether an engine still runs on this machine although its client has ended. The worker
 * has told such an engine to stop, so the engine exits after its running operations have finished.
 */
export const isOrphanedEngine = (
  { client, ...note }: EngineNote,
  here: ObservationPlace = currentPlace(),
): boolean =>
  client !== undefined &&
  here.place !== undefined &&
  isSamePlace(note.place, here.place) &&
  !hasEngineEnded(note, here) &&
  readProcessIdentity(client.pid)?.started !== client.started;

/**
 * Returns the note about a lock's holder that still runs although its client has ended. Undefined
 * if there is no such note.
 */
export const findAbandonedHolderNote = (
  notes: readonly EngineNote[],
  holder: LockHolder,
  here: ObservationPlace = currentPlace(),
): EngineNote | undefined =>
  notes.find((note) => isHolder(note, holder) && isOrphanedEngine(note, here));

/**
 * Deletes the notes about the engines of a stack without a lock. Keeps the notes about engines that
 * run on this machine, because such an engine may be about to take the lock.
 */
export function deleteEngineNotes(directory: string): void {
  const { place } = currentPlace();
  for (const note of readEngineNotes(directory)) {
    const runs = place && isSamePlace(note.place, place) && !hasEngineEnded(note);
    if (!runs) rmSync(fileOf(directory, note), { force: true });
  }
}
