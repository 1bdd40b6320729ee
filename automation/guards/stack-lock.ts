import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { withLock } from "../../base/file-lock.js";
import { parseBackendDirectory } from "../pulumi/backend.js";
import { Failure } from "../../base/failures/failure.js";
import {
  describeLock,
  isHolderRunning,
  parseLocksFromMessage,
  removeLock,
  readStackLocks,
  type StackLock,
} from "../pulumi/engine-locks.js";
import {
  deleteEngineNotes,
  hasEngineEnded,
  isOrphanedEngine,
  findAbandonedHolderNote,
  readEngineNotes,
  isHolderDead,
  type EngineNote,
} from "../pulumi/lock-holders.js";
import type { StackOperation } from "../engine/operation-context.js";
import {
  createUpdateInProgressError,
  hasUnlockedPreviews,
  readUpdateInProgress,
} from "../pulumi/update-in-progress.js";
import type { OperationFacts, OperationStep } from "../steps/step.js";
import { runPulumi, readState, type StateAccess } from "../pulumi/stack-state.js";

const isDirectory = ({ service }: StackOperation): boolean =>
  parseBackendDirectory(service.backend) !== undefined;

/**
 * Returns the locks of the stack. If the backend is a directory, reads its files. Otherwise asks
 * the engine. Pulumi Cloud does not name the holder of a lock.
 */
async function locksOf(run: StackOperation): Promise<StackLock[]> {
  const { backend } = run.service;
  if (hasUnlockedPreviews(backend))
    return (await readUpdateInProgress(run.access)) === true ? [{}] : [];
  return isDirectory(run)
    ? readStackLocks(backend, run.project, run.stack)
    : locksByEngine(run.access);
}

/**
 * Returns the locks that the engine reports. The engine names the holder of a lock only when the
 * engine cannot get the lock. So this function tells the engine to rename the stack to the stack's
 * present name. If the stack is not locked, the rename changes nothing: the engine takes the lock,
 * finds that the name is in use, and releases the lock.
 */
async function locksByEngine(access: StateAccess): Promise<StackLock[]> {
  const { stack } = access.workspace;
  const { stderr } = await runPulumi(access, ["stack", "rename", stack], {
    accept: [1, 255],
    locks: true,
  });
  if (/already exists|no stack named/.test(stderr)) return [];
  if (!/currently locked/.test(stderr))
    throw new Error(`Cannot read which process holds the stack's lock: ${stderr.trim()}`);
  const locks = parseLocksFromMessage(stderr);
  return locks.length > 0 ? locks : [{}];
}

const lockedError = (by: StackLock): Failure =>
  new Failure(
    "STACK_LOCKED",
    `Another operation holds this stack: ${describeLock(by)}.`,
    "Wait until it ends. If its process no longer exists, `stackadm unlock` removes its lock.",
  );

/** Returns whether the holder of the lock is certainly dead. */
const isDead = ({ access }: StackOperation, { holder }: StackLock): boolean =>
  holder !== undefined && isHolderDead(readEngineNotes(access.workspace.directory), holder);

/**
 * Removes all locks of the stack, and the notes about the engines that held the locks. In a backend
 * that is not a directory, only the engine can remove locks, and the engine removes all locks
 * together.
 */
async function removeLocks(run: StackOperation, locks: readonly StackLock[]): Promise<void> {
  if (isDirectory(run)) locks.forEach(removeLock);
  else if (locks.length > 0) await runPulumi(run.access, ["cancel", "--yes"]);
  deleteEngineNotes(run.access.workspace.directory);
}

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
 * that started the engine has ended. Removes the lock of a dead engine.
 */
export async function requireUnlocked({ run }: OperationFacts): Promise<void> {
  if (hasUnlockedPreviews(run.service.backend)) {
    if ((await readUpdateInProgress(run.access)) === true) throw createUpdateInProgressError();
    return;
  }
  const until = Date.now() + endingMilliseconds;
  let isReported = false;
  for (;;) {
    const ending = await removeDeadLocks(run, { mayWait: Date.now() < until });
    if (ending.length === 0) return;
    if (!isReported)
      for (const { pid } of ending)
        run.note(
          `The last command was killed, but its engine (process ${pid}) still finishes its running steps: waiting for it.`,
        );
    isReported = true;
    while (ending.some((note) => !hasEngineEnded(note)) && Date.now() < until)
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
  const { directory } = run.access.workspace;
  // A request to the engine takes a second. So the engine is asked only if an engine of this
  // program may have left a lock.
  const mayHold = (note: EngineNote) => hasEngineEnded(note) || isOrphanedEngine(note);
  if (!isDirectory(run) && !readEngineNotes(directory).some(mayHold)) return [];
  // Only one command at a time removes locks. Otherwise two commands could find the same dead
  // holder, and the second command could remove the new lock of the first command.
  const purpose = "removing the lock of an ended engine";
  const wait = { waitMs: 30_000, signal: run.options.signal, code: "STACK_LOCKED" } as const;
  return withLock(join(directory, "unlock.lock"), { purpose, ...wait }, async () => {
    const locks = await locksOf(run);
    const [alive, ...others] = locks.filter((lock) => !isDead(run, lock));
    if (alive) {
      const ending = mayWait ? endingHolders(run, [alive, ...others]) : undefined;
      if (ending) return ending;
      throw lockedError(alive);
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
      !isDead(run, lock) && (isHolderRunning(lock) || !holders.includes(describeLock(lock))),
  );
  if (alive) throw lockedError(alive);
}

/** Reads the state of a locked stack. Nothing is removed from a stack without a lock. */
export async function readLockedState(facts: LockFacts): Promise<void> {
  if (facts.locks.length > 0) facts.state = await readState(facts.run.access);
}

export const removeStackLocks: OperationStep<LockFacts> = {
  title: "Remove the stack's locks",
  apply: ({ run, locks }) => removeLocks(run, locks),
};
