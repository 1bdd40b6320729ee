import { join } from "node:path";
import { Failure } from "../../base/failures/failure.js";
import { withLock } from "../../base/file-lock.js";
import type { StackOperation } from "../engine/operation-context.js";
import { parseBackendDirectory } from "../pulumi/backend.js";
import { describeLock, removeLock, type StackLock } from "../pulumi/locks/engine-locks.js";
import { deleteEngineNotes, isHolderDead, readEngineNotes } from "../pulumi/locks/lock-holders.js";
import { runPulumi } from "../pulumi/stack-state.js";

/** Returns whether the locks are files of a directory. Other locks can only be read by the engine. */
export const hasLockFiles = ({ service }: StackOperation): boolean =>
  parseBackendDirectory(service.backend) !== undefined;

export const createLockedError = (by: StackLock): Failure =>
  new Failure(
    "STACK_LOCKED",
    `Another operation holds this stack: ${describeLock(by)}.`,
    "Wait until it ends. If its process no longer exists, `stackadm unlock` removes its lock.",
  );

/** Returns whether the holder of the lock is certainly dead. */
export const isHolderProvenDead = ({ access }: StackOperation, { holder }: StackLock): boolean =>
  holder !== undefined && isHolderDead(readEngineNotes(access.workspace.directory), holder);

/**
 * Removes all locks of the stack, and the notes about the engines that held the locks. In a backend
 * that is not a directory, only the engine can remove locks, and the engine removes all locks
 * together.
 */
export async function removeLocks(run: StackOperation, locks: readonly StackLock[]): Promise<void> {
  if (hasLockFiles(run)) locks.forEach(removeLock);
  else if (locks.length > 0) await runPulumi(run.access, ["cancel", "--yes"]);
  deleteEngineNotes(run.access.workspace.directory);
}

/**
 * Runs `work` while no other command of this machine removes locks of the stack. Otherwise two
 * commands could find the same dead holder, and the second command could remove the new lock of the
 * first command.
 */
export function withRemovalLock<T>(run: StackOperation, work: () => Promise<T>): Promise<T> {
  const purpose = "removing the lock of an ended engine";
  const wait = { waitMs: 30_000, signal: run.options.signal, code: "STACK_LOCKED" } as const;
  const file = join(run.access.workspace.directory, "unlock.lock");
  return withLock(file, { purpose, ...wait }, work);
}
