import { mendBalancers } from "./failed-balancers.js";
import { requireNoChanges } from "./no-changes.js";
import { repair, type Repaired } from "./repair.js";
import type { Run } from "./run.js";
import { beginWith } from "./which-cluster.js";

/**
 * What an `up` begins with: what an interrupted run left half made is repaired, and load balancers with which nothing can
 * be done any more are gone. Who expects no change is refused where there would be one of these, or any other.
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
