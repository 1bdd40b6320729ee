import { deleteBrokenBalancers } from "./broken-load-balancers.js";
import { requireNoChanges } from "./expect-no-changes.js";
import { repair, type Repaired } from "./interrupted-run.js";
import type { Run } from "../engine/operation-context.js";
import type { StateExport } from "../pulumi/stack-state.js";

/**
 * Prepares the stack for `up`: undoes the pending operations of an interrupted run, and deletes
 * load balancers in ERROR. With `expectNoChanges`, changes nothing, and throws if `up` would change
 * anything.
 */
export async function settleBeforeUp(
  run: Run,
  held: StateExport | undefined,
  expectNoChanges = false,
): Promise<Repaired> {
  if (expectNoChanges) {
    await requireNoChanges(run, held);
    return { state: held };
  }
  const repaired = await repair(run, held, { stage: "repair", newest: true });
  return { ...repaired, ...(await deleteBrokenBalancers(run, repaired.state, { purpose: "up" })) };
}
