import type { ChildProcess } from "node:child_process";
import { randomUUID } from "node:crypto";
import { subscribe, unsubscribe } from "node:diagnostics_channel";
import { readdirSync, readFileSync, rmSync, statSync, utimesSync } from "node:fs";
import { basename, join } from "node:path";
import { z } from "zod";
import { replacePrivateFile } from "../../../base/atomic-files.js";
import {
  isMissingFileError,
  isInvalidFormatError,
  isSystemError,
} from "../../../base/failures/expected-errors.js";
import {
  checkProcess,
  readProcessIdentity,
  referTo,
  type ObservationPlace,
  type ProcessReference,
} from "../../../base/process-identity.js";
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
  /** Random name of the note. Engines of two containers may have the same PID and start time. */
  token: z.string(),
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
export type EngineNote = z.infer<typeof noteSchema> & {
  /** Time at which the engine was last seen alive, in milliseconds since 1970. */
  readonly seen: number;
};

const folderOf = (directory: string): string => join(directory, "engines");
const fileOf = (directory: string, { token }: Pick<EngineNote, "token">): string =>
  join(folderOf(directory), `${token}.json`);

/** Time in milliseconds between two heartbeats of a note. */
const beatMilliseconds = 1_000;

/** Age in milliseconds of the last heartbeat at which an engine elsewhere is no longer starting. */
const startingMilliseconds = 60_000;

/**
 * Writes a note about an engine that was just started. Returns a function that deletes the note.
 *
 * @param directory private directory of the stack
 * @param client PID of the process that waits for the engine's result
 */
export function recordEngine(directory: string, pid: number, client = process.pid): () => void {
  const [engine, waiting] = [referTo(pid), readProcessIdentity(client)];
  // Without /proc, writes no note. If this engine is killed, no note proves that the engine is
  // dead, and the user must confirm this.
  if (!engine) return () => undefined;
  const note = {
    ...engine,
    token: randomUUID(),
    ...(waiting && { client: { pid: client, started: waiting.started } }),
  };
  const file = fileOf(directory, note);
  try {
    replacePrivateFile(file, JSON.stringify(note));
  } catch (error) {
    if (isSystemError(error)) return () => undefined;
    throw error;
  }
  const stopHeartbeat = startHeartbeat(file, engine);
  return () => {
    stopHeartbeat();
    rmSync(file, { force: true });
  };
}

/**
 * Sets the time of the note's file while the engine runs. The engine takes its lock after a few
 * seconds, and later on a slow machine. The time limits the locks that the note may describe.
 */
function startHeartbeat(file: string, engine: ProcessReference): () => void {
  const beat = setInterval(() => {
    try {
      if (checkProcess(engine) === "alive") utimesSync(file, new Date(), new Date());
      else clearInterval(beat);
    } catch (error) {
      if (!isSystemError(error)) throw error;
      clearInterval(beat); // Another command has deleted the note.
    }
  }, beatMilliseconds);
  beat.unref();
  return () => {
    clearInterval(beat);
  };
}

/**
 * Returns whether a started process is an engine that may take the lock. The tag commands of a
 * heartbeat, which run twice a minute, take no lock.
 */
const mayTakeLock = ({ spawnfile, spawnargs: [, command, subcommand] }: ChildProcess): boolean =>
  basename(spawnfile) === "pulumi" && !(command === "stack" && subcommand === "tag");

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
      if (child.pid === undefined || !mayTakeLock(child)) return;
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
    const note = noteSchema.parse(JSON.parse(readFileSync(file, "utf8")));
    return [{ ...note, seen: Math.max(note.at, statSync(file).mtimeMs) }];
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

/** Returns whether the engine has certainly ended. */
export const hasEngineEnded = (note: EngineNote, here?: ObservationPlace): boolean =>
  checkProcess(note, here) === "dead";

/**
 * Time limits in milliseconds for matching a note with a lock. The engine in a note may hold a lock
 * that was taken at most `before` milliseconds before the note's time. An engine that was not seen
 * alive for `after` milliseconds takes no lock any more. The lock's time may be rounded to seconds.
 */
const [before, after] = [5_000, 5_000];

/**
 * Returns whether the note may describe the holder of this lock: PID, host and time match. Two
 * containers may have the same host name and PID, so the times must match closely.
 */
const isHolder = ({ pid, host, at, seen }: EngineNote, holder: LockHolder): boolean => {
  const since = holder.since.getTime();
  return pid === holder.pid && host === holder.host && since > at - before && since < seen + after;
};

/** Returns whether a note proves that the holder of the lock is dead. */
export const isHolderDead = (
  notes: readonly EngineNote[],
  holder: LockHolder,
  here?: ObservationPlace,
): boolean => notes.some((note) => isHolder(note, holder) && hasEngineEnded(note, here));

/** Returns whether a note proves that the holder of the lock runs on this machine. */
export const isHolderAlive = (
  notes: readonly EngineNote[],
  holder: LockHolder,
  here?: ObservationPlace,
): boolean => notes.some((note) => isHolder(note, holder) && checkProcess(note, here) === "alive");

/**
 * Returns whether an engine still runs on this machine although its client has ended. The worker
 * has told such an engine to stop, so the engine exits after its running operations have finished.
 */
export const isOrphanedEngine = (
  { client, ...note }: EngineNote,
  here?: ObservationPlace,
): boolean =>
  client !== undefined &&
  checkProcess(note, here) === "alive" &&
  readProcessIdentity(client.pid)?.started !== client.started;

/**
 * Returns the note about a lock's holder that still runs although its client has ended. Undefined
 * if there is no such note.
 */
export const findAbandonedHolderNote = (
  notes: readonly EngineNote[],
  holder: LockHolder,
  here?: ObservationPlace,
): EngineNote | undefined =>
  notes.find((note) => isHolder(note, holder) && isOrphanedEngine(note, here));

/**
 * Deletes the notes about the engines of a stack without a lock. Keeps the notes about engines that
 * may be about to take the lock: engines that run on this machine, and engines that another host or
 * container has just started.
 */
export function deleteEngineNotes(directory: string): void {
  for (const note of readEngineNotes(directory)) {
    const state = checkProcess(note);
    const isStarting = state === "unknown" && Date.now() < note.seen + startingMilliseconds;
    if (state !== "alive" && !isStarting) rmSync(fileOf(directory, note), { force: true });
  }
}
