import { deleteBrokenBalancers } from "./broken-load-balancers.js";
import { requireNoChanges } from "./expect-no-changes.js";
import { repairInterruptedRun, type RepairResult } from "./interrupted-run.js";
import type { StackOperation } from "../engine/operation-context.js";
import { readStateAndReportClusters } from "../guards/cluster-identity.js";

/**
 * Prepares the stack for `up`: undoes the pending operations of an interrupted run, and deletes
 * load balancers in ERROR. With `expectNoChanges`, only checks: throws if `up` would change
 * anything.
 */
export async function repairBeforeUp(
  run: StackOperation,
  expectNoChanges = false,
): Promise<RepairResult> {
  const held = await readStateAndReportClusters(run);
  if (expectNoChanges) {
    await requireNoChanges(run, held);
    return { state: held };
  }
  const repaired = await repairInterruptedRun(run, held, { stage: "repair", newest: true });
  return { ...repaired, ...(await deleteBrokenBalancers(run, repaired.state, { purpose: "up" })) };
}
