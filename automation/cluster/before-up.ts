import { mendBalancers } from "./failed-balancers.js";
import { requireNoChanges } from "./no-changes.js";
import { forgetRefused } from "./power-states.js";
import { repair, type Repaired } from "./repair.js";
import type { Run } from "./run.js";
import { readUnread } from "./unread.js";
import { beginWith } from "./which-cluster.js";

/**
 * What an `up` begins with: what an interrupted run left half made is repaired, what could not be read is read, and load balancers
 * with which nothing can be done any more are gone. Who expects no change is refused where there would be one of these, or any other.
 */
export async function settleBeforeUp(run: Run, expectNoChanges = false): Promise<Repaired> {
  const held = await beginWith(run);
  if (expectNoChanges) {
    await requireNoChanges(run, held);
    return { state: held };
  }
  const repaired = await repair(run, held, { stage: "repair", newest: true });
  const read = await readUnread(run, repaired.state);
  const state = await forgetRefused(run.access, read.state);
  const balancers = await mendBalancers(run, state, { purpose: "up" });
  return { ...repaired, ...balancers, mended: read.mended || balancers.mended };
}
