import { mendBalancers } from "./failed-balancers.js";
import { requireNoChanges } from "./no-changes.js";
import { repair, type Repaired } from "./repair.js";
import type { Run } from "./run.js";
import { beginWith } from "./which-cluster.js";

/**
 * Prepares the stack for `up`: repairs what an interrupted run left, and deletes load balancers
 * that are in ERROR. With `expectNoChanges`, changes nothing and fails if `up` would change
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
