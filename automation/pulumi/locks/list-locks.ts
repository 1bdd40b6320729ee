import { parseBackendDirectory } from "../backend.js";
import { parseLocksFromMessage, readStackLocks, type StackLock } from "./engine-locks.js";
import { runPulumi, type StateAccess } from "../stack-state.js";
import { hasUnlockedPreviews, readUpdateInProgress } from "./update-in-progress.js";

/**
 * Returns the locks of the stack. If the backend is a directory, reads its files. Otherwise asks
 * the engine. Pulumi Cloud does not name the holder of a lock.
 */
export async function listLocks(access: StateAccess, backend: string): Promise<StackLock[]> {
  const { project, stack } = access.workspace;
  if (hasUnlockedPreviews(backend))
    return (await readUpdateInProgress(access)) === true ? [{}] : [];
  return parseBackendDirectory(backend) === undefined
    ? listLocksByEngine(access)
    : readStackLocks(backend, project, stack);
}

/**
 * Returns the locks that the engine reports. The engine names the holder of a lock only when the
 * engine cannot get the lock. So this function tells the engine to rename the stack to the stack's
 * present name. If the stack is not locked, the rename changes nothing: the engine takes the lock,
 * finds that the name is in use, and releases the lock.
 */
async function listLocksByEngine(access: StateAccess): Promise<StackLock[]> {
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
