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
 * The engine writes into a lock a host name and a process number, which two containers may have alike and another process may
 * get later. So whoever starts an engine that takes a lock notes which process it is, and where, before it can take it: only that proves
 * that a holder is dead. The notes lie in the stack's private directory, whatever the backend is.
 */

const processSchema = z.object({
  pid: z.number(),
  /** When it started, in clock ticks after boot. */
  started: z.string(),
});

const noteSchema = processSchema.extend({
  /** Who waits for its result. Absent: unknown. */
  client: processSchema.optional(),
  host: z.string(),
  /** When it was noted, in milliseconds since 1970. */
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
 * Notes an engine that was just started; answers what forgets it.
 *
 * @param directory of the stack
 * @param client number of the process that waits for its result
 */
export function noteEngine(directory: string, pid: number, client = process.pid): () => void {
  const [place, facts, waiting] = [processPlace(), processFacts(pid), processFacts(client)];
  // Without a note its lock proves nothing, should it be killed: then a person has to say so.
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
 * Notes every engine that this process starts, also those that the SDK starts. Answers what ends that and forgets them, but for any that was
 * killed: for when they have given their locks back. Their results are for the process that started this one.
 */
export function noteEngines(directory: string): () => void {
  // Once it is gone, our parent is another one.
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
    return []; // forgotten since it was listed, or of another release
  }
}

/** The notes of a stack's engines. */
export function notesIn(directory: string): EngineNote[] {
  const folder = folderOf(directory);
  try {
    return readdirSync(folder).flatMap((name) => readNote(join(folder, name)));
  } catch {
    return []; // nobody noted anything
  }
}

/** Where it is asked whether an engine has ended. */
export interface Here {
  readonly place: ProcessPlace | undefined;
  readonly host: string;
  /** When the machine was booted, in milliseconds since 1970. */
  readonly booted: number;
}
const whereWeAre = (): Here => ({
  place: processPlace(),
  host: hostname(),
  booted: Date.now() - uptime() * 1_000,
});

const isIn = (place: ProcessPlace, { boot, namespace }: ProcessPlace): boolean =>
  place.boot === boot && place.namespace === namespace;

/** Whether the engine has certainly ended: it is gone from this place, its number is another's by now, or the machine was booted since. */
export function hasEnded(note: EngineNote, here: Here = whereWeAre()): boolean {
  if (!here.place) return false;
  if (isIn(note.place, here.place)) return processFacts(note.pid)?.started !== note.started;
  // Copies of a machine may share its ID, but neither its name nor when they were booted.
  return isEarlierBoot(note.place, here.place) && note.host === here.host && note.at < here.booted;
}

/** An engine takes its lock when it begins. In a lock the time may have no fractions of a second. */
const [before, after] = [5_000, 300_000];

/** Whether this lock is the engine's. */
const took = ({ pid, host, at }: EngineNote, holder: LockHolder): boolean => {
  const since = holder.since.getTime();
  return pid === holder.pid && host === holder.host && since > at - before && since < at + after;
};

/** Whether a note proves that the holder is dead. */
export const proveDead = (
  notes: readonly EngineNote[],
  holder: LockHolder,
  here: Here = whereWeAre(),
): boolean => notes.some((note) => took(note, holder) && hasEnded(note, here));

/**
 * Whether an engine runs here although whoever waited for its result is gone: it was told to end, and does so as soon as what it works on
 * is done.
 */
export const isLeftAlone = ({ client, ...note }: EngineNote, here: Here = whereWeAre()): boolean =>
  client !== undefined &&
  here.place !== undefined &&
  isIn(note.place, here.place) &&
  !hasEnded(note, here) &&
  processFacts(client.pid)?.started !== client.started;

/** The note of a holder that is left alone. */
export const noteOfEnding = (
  notes: readonly EngineNote[],
  holder: LockHolder,
  here: Here = whereWeAre(),
): EngineNote | undefined => notes.find((note) => took(note, holder) && isLeftAlone(note, here));

/** For a stack that nobody holds: forgets all engines but those that run here and may be about to take its lock. */
export function forgetEngines(directory: string): void {
  const { place } = whereWeAre();
  for (const note of notesIn(directory)) {
    const runs = place && isIn(note.place, place) && !hasEnded(note);
    if (!runs) rmSync(fileOf(directory, note), { force: true });
  }
}
