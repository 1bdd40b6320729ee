import { describeLock } from "../pulumi/locks/engine-locks.js";
import { requireClusterStack } from "../guards/cluster-stack.js";
import {
  readLockedState,
  readLocks,
  removeStackLocks,
  requireDeadHolders,
  type LockFacts,
} from "../guards/stack-lock.js";
import type { StackOperation } from "../engine/operation-context.js";
import type { UnlockOptions } from "../engine/operation-options.js";
import { runSteps } from "../steps/run-steps.js";
import type { Operation } from "../steps/step.js";

/** Removes the stack's locks. Throws if a lock's holder may be alive. */
export const unlockOperation: Operation<LockFacts> = {
  guards: [readLocks, requireDeadHolders, readLockedState, requireClusterStack],
  steps: [removeStackLocks],
};

/** Removes the stack's locks. Returns their holders. */
export async function unlock(
  run: StackOperation,
  { holders = [] }: UnlockOptions,
): Promise<string[]> {
  const facts: LockFacts = { run, holders, locks: [] };
  await runSteps(unlockOperation, facts);
  return facts.locks.map(describeLock);
}
