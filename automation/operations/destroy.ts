import {
  deleteEmptyStack,
  deleteResources,
  deleteStack,
  hadNoResources,
  hadResources,
  removeLocalFiles,
  prestartEngineWithoutProgram,
} from "../destroy/delete-resources.js";
import type { DestroyStepDescription } from "../destroy/destroy-plan.js";
import { waitForClusterApi } from "../destroy/wait-for-cluster-api.js";
import { sweepAfterDestroy } from "../destroy/sweep-leftovers.js";
import type { StackOperation } from "../engine/operation-context.js";
import type { DestroyOptions, DestroyPlan, DestroyResult } from "../engine/operation-options.js";
import { requireSameLocation } from "../guards/cloud-location.js";
import { readStackState, reportCluster } from "../guards/identify-clusters.js";
import { requireClusterStack } from "../guards/cluster-stack.js";
import { readProtection, requireAgreedClusters } from "../guards/destroy-protection.js";
import { retainForeignCredentialsInDestroy } from "../guards/foreign-credentials.js";
import { requireNoOtherBackend } from "../guards/other-backend.js";
import { requireUnlocked } from "../guards/stack-lock.js";
import { deleteBrokenBalancers } from "../repair/broken-load-balancers.js";
import { undoPendingBeforeDestroy } from "../repair/interrupted-run.js";
import { unblockNetworks } from "../repair/unrecorded-objects.js";
import { makeGuardsConditional, makeStepsConditional, type Operation } from "../steps/step.js";
import { describeDestroy, runDestroy, type DestroyFacts } from "./run-destroy.js";

/**
 * Deletes the cluster. Needs the cluster's API, because Kubernetes' controllers delete the load
 * balancers of Services and the volumes before the machines are deleted.
 */
export const destroyOperation: Operation<DestroyFacts, DestroyStepDescription> = {
  guards: [
    requireUnlocked,
    prestartEngineWithoutProgram,
    readProtection,
    readStackState,
    requireClusterStack,
    requireSameLocation,
    reportCluster,
    ...makeGuardsConditional(hadNoResources, [requireNoOtherBackend]),
    ...makeGuardsConditional(hadResources, [requireAgreedClusters]),
  ],
  steps: [
    ...makeStepsConditional(hadNoResources, [deleteEmptyStack]),
    ...makeStepsConditional(hadResources, [
      waitForClusterApi,
      undoPendingBeforeDestroy,
      deleteBrokenBalancers,
      unblockNetworks,
      retainForeignCredentialsInDestroy,
      deleteResources,
      sweepAfterDestroy,
      removeLocalFiles,
      deleteStack,
    ]),
  ],
};

export const destroy = (run: StackOperation, options: DestroyOptions): Promise<DestroyResult> =>
  runDestroy(destroyOperation, run, options);

export const planDestroy = (run: StackOperation): Promise<DestroyPlan> =>
  describeDestroy(destroyOperation, run);
