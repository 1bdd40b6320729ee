import { mendBalancers } from "./failed-balancers.js";
import { requireNoChanges } from "./no-changes.js";
import { repair, type Repaired } from "./repair.js";
import type { Run } from "./run.js";
import { beginWith } from "./which-cluster.js";

/**
 * Prepares the stack for `up`: undoes the pending operations of an interrupted run, and deletes
 * load balancers in ERROR. With `expectNoChanges`, changes nothing, and throws if `up` would change
 * anything.
 */
export async function settleBeforeUp(run: Run, expectNoChanges = false): Promise<Repaired> {
  const held = await beginWith(run);
  if (expectNoChanges) {
    await requireNoChanges(run, held);
    return { state: held };
  }
  const repaired = await repair(run, held, { stage: "repair", newest: true });
  return { ...repaired, ...(await mendBalancers(run, repaired.state, { purpose: "up" })) };
}
