import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { withLock } from "../../base/lock.js";
import { backendDirectory } from "../setup/backend.js";
import { ClusterError } from "./cluster-error.js";
import {
  describeLock,
  holderRuns,
  locksSaid,
  removeLock,
  stackLocks,
  type StackLock,
} from "./engine-locks.js";
import {
  forgetEngines,
  hasEnded,
  isLeftAlone,
  noteOfEnding,
  notesIn,
  proveDead,
  type EngineNote,
} from "./engine-notes.js";
import { requireOurs } from "./ours.js";
import type { Run } from "./run.js";
import { pulumi, readState, type StateAccess } from "./state.js";

const isDirectory = ({ service }: Run): boolean => backendDirectory(service.backend) !== undefined;

/** Who holds the stack; a backend that is no directory is asked by the engine. */
const locksOf = (run: Run): Promise<StackLock[]> =>
  isDirectory(run)
    ? Promise.resolve(stackLocks(run.service.backend, run.project, run.stack))
    : locksByEngine(run.access);

/**
 * The engine tells who holds a stack only when it is refused, so it is asked to give the stack the name that it has: it takes the lock,
 * sees that the name is taken, and gives the lock back.
 */
async function locksByEngine(access: StateAccess): Promise<StackLock[]> {
  const { stack } = access.workspace;
  const { stderr } = await pulumi(access, ["stack", "rename", stack], {
    accept: [1, 255],
    locks: true,
  });
  if (/already exists|no stack named/.test(stderr)) return [];
  if (!/currently locked/.test(stderr))
    throw new Error(`Who holds the stack cannot be asked: ${stderr.trim()}`);
  const said = locksSaid(stderr);
  return said.length > 0 ? said : [{}];
}

const held = (by: StackLock): ClusterError =>
  new ClusterError(
    "STACK_LOCKED",
    `Another operation holds this stack: ${describeLock(by)}.`,
    "Wait until it is done. If it is gone for good, `npx stackadm unlock` removes its lock.",
  );

/** Whether the holder is certainly dead. */
const isDead = ({ access }: Run, { holder }: StackLock): boolean =>
  holder !== undefined && proveDead(notesIn(access.workspace.directory), holder);

/** Removes them all; where the backend is no directory, that is all that the engine can do. */
async function removeLocks(run: Run, locks: readonly StackLock[]): Promise<void> {
  if (isDirectory(run)) locks.forEach(removeLock);
  else if (locks.length > 0) await pulumi(run.access, ["cancel", "--yes"]);
  forgetEngines(run.access.workspace.directory);
}

/** How long an engine that nobody waits for any more may work on what it has begun. */
const endingMilliseconds = 15 * 60_000;

/** The holders, if all of them are about to end by themselves. */
function endingHere({ access }: Run, alive: readonly StackLock[]): EngineNote[] | undefined {
  const notes = notesIn(access.workspace.directory);
  const ending = alive.flatMap(({ holder }) => (holder && noteOfEnding(notes, holder)) ?? []);
  return ending.length === alive.length ? ending : undefined;
}

/** Refuses a stack that another operation holds. Of one whose command line is gone the end is awaited; the lock of one that is certainly dead is removed. */
export async function requireFree(run: Run): Promise<void> {
  const until = Date.now() + endingMilliseconds;
  let told = false;
  for (;;) {
    const ending = await takeFree(run, { mayWait: Date.now() < until });
    if (ending.length === 0) return;
    if (!told)
      for (const { pid } of ending)
        run.note(
          `The last command was ended from outside, and its engine (process ${pid}) still finishes what it had begun: waiting for that.`,
        );
    told = true;
    while (ending.some((note) => !hasEnded(note)) && Date.now() < until)
      await pause(200, undefined, { signal: run.options.signal });
  }
}

/** Answers engines of which the end is to be awaited, and none when the stack is free; throws when somebody else holds it. */
async function takeFree(run: Run, { mayWait }: { mayWait: boolean }): Promise<EngineNote[]> {
  const { directory } = run.access.workspace;
  // Asking the engine takes a second: only where one of ours ended and may have left its lock.
  const mayHold = (note: EngineNote) => hasEnded(note) || isLeftAlone(note);
  if (!isDirectory(run) && !notesIn(directory).some(mayHold)) return [];
  // Of two who find the same holder dead, the second must not take away the lock that the first has by then.
  const purpose = "removing the lock of an engine that is gone";
  const { signal } = run.options;
  return withLock(join(directory, "unlock.lock"), { purpose, waitMs: 30_000, signal }, async () => {
    const locks = await locksOf(run);
    const [alive, ...others] = locks.filter((lock) => !isDead(run, lock));
    if (alive) {
      const ending = mayWait ? endingHere(run, [alive, ...others]) : undefined;
      if (ending) return ending;
      throw held(alive);
    }
    await removeLocks(run, locks);
    for (const lock of locks)
      run.note(`The lock of ${describeLock(lock)} is removed: that process is gone.`);
    return [];
  });
}

/** Who holds the stack, for people. */
export const holdersOf = async (run: Run): Promise<string[]> =>
  (await locksOf(run)).map(describeLock);

/** Removes the locks of these holders, and those of others that are certainly dead; answers whose. */
export async function unlock(run: Run, holders: readonly string[]): Promise<string[]> {
  const locks = await locksOf(run);
  const alive = locks.find(
    (lock) => !isDead(run, lock) && (holderRuns(lock) || !holders.includes(describeLock(lock))),
  );
  if (alive) throw held(alive);
  if (locks.length > 0) requireOurs(run, await readState(run.access));
  await removeLocks(run, locks);
  return locks.map(describeLock);
}
