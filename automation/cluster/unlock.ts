import { ClusterError } from "./cluster-error.js";
import {
  describeLock,
  holderIsDead,
  holderRuns,
  holdersSaid,
  removeLock,
  stackLocks,
  type StackLock,
} from "./engine-locks.js";
import { backendDirectory } from "../setup/backend.js";
import type { Run } from "./run.js";
import { pulumi, type StateAccess } from "./state.js";

const locksOf = ({ service, project, stack }: Run): StackLock[] =>
  stackLocks(service.backend, project, stack);

const held = (by: string): ClusterError =>
  new ClusterError(
    "STACK_LOCKED",
    `Another operation holds this stack: ${by}.`,
    "Wait until it is done. If it is gone for good, `npx stackadm unlock` removes its lock.",
  );

/** Refuses a stack that another operation holds. The lock of one that is certainly dead is removed. */
export function requireFree(run: Run): void {
  const locks = locksOf(run);
  const alive = locks.find((lock) => !holderIsDead(lock));
  if (alive) throw held(describeLock(alive));
  for (const lock of locks) {
    removeLock(lock);
    run.note(`The lock of ${describeLock(lock)} is removed: that process is gone.`);
  }
}

/**
 * Who holds the stack, as the engine says. It tells only who is refused, so it is asked to give the stack the name that it has:
 * it takes the lock, sees that the name is taken, and gives the lock back.
 */
export async function holdersByEngine(access: StateAccess): Promise<string[]> {
  const { stack } = access.workspace;
  const { stderr } = await pulumi(access, ["stack", "rename", stack], { accept: [1, 255] });
  if (/already exists|no stack named/.test(stderr)) return [];
  const holders = holdersSaid(stderr);
  return holders.length > 0 ? holders : [stderr.trim()];
}

/** Who holds the stack; a backend that is no directory is asked by the engine. */
export const holdersOf = (run: Run): Promise<string[]> =>
  backendDirectory(run.service.backend) === undefined
    ? holdersByEngine(run.access)
    : Promise.resolve(locksOf(run).map(describeLock));

/** Removes the locks of these holders, and those of others that are certainly dead; answers whose. */
export async function unlock(run: Run, holders: readonly string[]): Promise<string[]> {
  const meant = (by: string): boolean => holders.includes(by);
  if (backendDirectory(run.service.backend) === undefined) {
    const now = await holdersByEngine(run.access);
    const other = now.find((by) => !meant(by));
    if (other !== undefined) throw held(other);
    if (now.length > 0) await pulumi(run.access, ["cancel", "--yes"]);
    return now;
  }
  const locks = locksOf(run);
  const alive = locks.find(
    (lock) => !holderIsDead(lock) && (holderRuns(lock) || !meant(describeLock(lock))),
  );
  if (alive) throw held(describeLock(alive));
  for (const lock of locks) removeLock(lock);
  return locks.map(describeLock);
}
