import type { RefreshResult } from "../engine/operation-options.js";
import { requireClusterStack } from "../guards/cluster-stack.js";
import { readStackState, reportCluster, startSignIn } from "../guards/identify-clusters.js";
import { requireSameLocation } from "../guards/cloud-location.js";
import { requireUnlocked } from "../guards/stack-lock.js";
import type { StackOperation } from "../engine/operation-context.js";
import { reportBrokenBalancersInRefresh } from "../repair/broken-load-balancers.js";
import { requireSafeRefresh } from "../repair/interrupted-run.js";
import { refreshResources, type RefreshFacts } from "../repair/remove-refused-power-states.js";
import { runSteps } from "../steps/run-steps.js";
import type { Operation } from "../steps/step.js";

/** Reads the cloud's objects into the state. Counts the resources that differed from the state. */
export const refreshOperation: Operation<RefreshFacts> = {
  guards: [
    requireUnlocked,
    startSignIn,
    readStackState,
    requireClusterStack,
    requireSameLocation,
    reportCluster,
    requireSafeRefresh,
  ],
  steps: [reportBrokenBalancersInRefresh, refreshResources],
};

export async function refresh(run: StackOperation): Promise<RefreshResult> {
  const facts: RefreshFacts = { run, broken: [], differing: 0 };
  await runSteps(refreshOperation, facts);
  return { changed: facts.differing };
}
