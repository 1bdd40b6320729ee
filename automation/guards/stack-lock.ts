import { setTimeout as pause } from "node:timers/promises";
import { describeLock, isHolderRunning, type StackLock } from "../pulumi/locks/engine-locks.js";
import { listLocks } from "../pulumi/locks/list-locks.js";
import {
  hasEngineEnded,
  isOrphanedEngine,
  findAbandonedHolderNote,
  readEngineNotes,
  type EngineNote,
} from "../pulumi/locks/lock-holders.js";
import { ownerVariable, readOwner } from "../pulumi/locks/owner-record.js";
import type { StackOperation } from "../engine/operation-context.js";
import {
  createUpdateInProgressError,
  hasUnlockedPreviews,
  readUpdateInProgress,
} from "../pulumi/locks/update-in-progress.js";
import type { OperationFacts, OperationStep } from "../steps/step.js";
import { readState } from "../pulumi/stack-state.js";
import {
  createLockedError,
  hasLockFiles,
  isHolderProvenDead,
  removeLocks,
  withRemovalLock,
} from "./remove-locks.js";
import { askBackend } from "./stack-elsewhere.js";
import { takeOverStack } from "./take-over-stack.js";

const locksOf = ({ access, service }: StackOperation): Promise<StackLock[]> =>
  listLocks(access, service.backend);

/**
 * Time limit in milliseconds for an engine to finish its operations after its command has ended.
 */
const endingMilliseconds = 15 * 60_000;

/**
 * Returns the recorded holders of the locks if the stackadm commands that started these engines
 * have all ended. Otherwise returns undefined.
 */
function endingHolders(
  { access }: StackOperation,
  alive: readonly StackLock[],
): EngineNote[] | undefined {
  const notes = readEngineNotes(access.workspace.directory);
  const ending = alive.flatMap(
    ({ holder }) => (holder && findAbandonedHolderNote(notes, holder)) ?? [],
  );
  return ending.length === alive.length ? ending : undefined;
}

/**
 * Throws if another operation holds the stack's lock. Waits for the lock's engine if the command
 * that started the engine has ended. Removes the lock of a dead engine. Takes the stack over from an
 * operation of the same owner whose heartbeat has stopped.
 */
export async function requireUnlocked({ run }: OperationFacts): Promise<void> {
  const owner = readOwner(run.service.env);
  if (hasUnlockedPreviews(run.service.backend)) {
    if (owner !== undefined) run.note(`${ownerVariable} has no effect with Pulumi Cloud.`);
    const isHeld = await askBackend(run, () => readUpdateInProgress(run.access));
    if (isHeld === true) throw createUpdateInProgressError();
    return;
  }
  if (owner !== undefined) await takeOverStack(run, owner);
  const until = performance.now() + endingMilliseconds;
  let isReported = false;
  for (;;) {
    const ending = await removeDeadLocks(run, { mayWait: performance.now() < until });
    if (ending.length === 0) return;
    if (!isReported)
      for (const { pid } of ending)
        run.note(
          `The last command was killed, but its engine (process ${pid}) still finishes its running steps: waiting for it.`,
        );
    isReported = true;
    while (ending.some((note) => !hasEngineEnded(note)) && performance.now() < until)
      await pause(200, undefined, { signal: run.options.signal });
  }
}

/**
 * Removes the locks if all holders are dead. Returns the engines for which the caller must wait.
 * Returns no engines if the stack has no lock any more. Throws if another operation holds the lock.
 */
async function removeDeadLocks(
  run: StackOperation,
  { mayWait }: { mayWait: boolean },
): Promise<EngineNote[]> {
  // A request to the engine takes a second. So the engine is asked only if an engine of this
  // program may have left a lock.
  const mayHold = (note: EngineNote) => hasEngineEnded(note) || isOrphanedEngine(note);
  if (!hasLockFiles(run) && !readEngineNotes(run.access.workspace.directory).some(mayHold))
    return [];
  return withRemovalLock(run, async () => {
    const locks = await locksOf(run);
    const [alive, ...others] = locks.filter((lock) => !isHolderProvenDead(run, lock));
    if (alive) {
      const ending = mayWait ? endingHolders(run, [alive, ...others]) : undefined;
      if (ending) return ending;
      throw createLockedError(alive);
    }
    await removeLocks(run, locks);
    for (const lock of locks)
      run.note(`Removed the lock of ${describeLock(lock)}: the process no longer exists.`);
    return [];
  });
}

/** Returns the holders of the stack's locks, as text for messages. */
export const describeLockHolders = async (run: StackOperation): Promise<string[]> =>
  (await locksOf(run)).map(describeLock);

/** Facts of the operation `unlock`. */
export interface LockFacts extends OperationFacts {
  /** Holders that the caller knows to be dead. */
  readonly holders: readonly string[];
  locks: readonly StackLock[];
}

export async function readLocks(facts: LockFacts): Promise<void> {
  facts.locks = await locksOf(facts.run);
}

/** Throws if a holder may be alive: its process runs, or the caller did not name the holder. */
export function requireDeadHolders({ run, locks, holders }: LockFacts): void {
  const alive = locks.find(
    (lock) =>
      !isHolderProvenDead(run, lock) &&
      (isHolderRunning(lock) || !holders.includes(describeLock(lock))),
  );
  if (alive) throw createLockedError(alive);
}

/** Reads the state of a locked stack. Nothing is removed from a stack without a lock. */
export async function readLockedState(facts: LockFacts): Promise<void> {
  if (facts.locks.length > 0) facts.state = await readState(facts.run.access);
}

export const removeStackLocks: OperationStep<LockFacts> = {
  title: "Remove the stack's locks",
  apply: ({ run, locks }) => removeLocks(run, locks),
};
