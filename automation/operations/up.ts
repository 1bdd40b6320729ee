import type { StackOperation } from "../engine/operation-context.js";
import type { UpOptions, UpResult } from "../engine/operation-options.js";
import { requireSameLocation } from "../guards/cloud-location.js";
import { readStackState, reportCluster } from "../guards/identify-clusters.js";
import { requirePackageProgramStack } from "../guards/cluster-stack.js";
import { retainForeignCredentials } from "../guards/foreign-credentials.js";
import { rewriteServerGroups } from "../guards/plugin-conversion.js";
import { requireUnlocked } from "../guards/stack-lock.js";
import {
  applyRecordedDefaults,
  readSettings,
  requireCloudFit,
  startSurvey,
  surveyCloud,
} from "../preflight/preflight.js";
import { octaviaAnswerTimeout, recreateBrokenBalancers } from "../repair/broken-load-balancers.js";
import { refuseChanges, requireNoChanges } from "../repair/expect-no-changes.js";
import { undoPendingBeforeUp } from "../repair/interrupted-run.js";
import { refreshPartialCreates } from "../repair/partial-creates.js";
import { removeRefusedPowerStates } from "../repair/remove-refused-power-states.js";
import { deleteUnrecordedObjects } from "../repair/unrecorded-objects.js";
import { runSteps } from "../steps/run-steps.js";
import { makeGuardsConditional, type PlannedChanges, type Operation } from "../steps/step.js";
import {
  runProgram,
  prestartEngineWithProgram,
  verifyNewCluster,
  type UpFacts,
} from "./run-program.js";

const expectsNoChanges = ({ options }: UpFacts): boolean => options.expectNoChanges === true;

/** Creates or changes the cluster to match the settings, and verifies that it works. */
export const upOperation: Operation<UpFacts, PlannedChanges> = {
  guards: [
    readSettings,
    requireUnlocked,
    prestartEngineWithProgram,
    startSurvey,
    readStackState,
    applyRecordedDefaults,
    requirePackageProgramStack,
    requireSameLocation,
    reportCluster,
    ...makeGuardsConditional(expectsNoChanges, [
      (facts) => requireNoChanges(upOperation.steps, facts),
    ]),
  ],
  steps: [
    undoPendingBeforeUp,
    recreateBrokenBalancers,
    surveyCloud,
    deleteUnrecordedObjects,
    requireCloudFit,
    rewriteServerGroups,
    removeRefusedPowerStates,
    refreshPartialCreates,
    retainForeignCredentials,
    runProgram,
    verifyNewCluster,
  ],
};

export async function up(run: StackOperation, options: UpOptions): Promise<UpResult> {
  const { expectNoChanges = false } = options;
  const facts: UpFacts = {
    run,
    options,
    unrecorded: new Set(),
    others: [],
    flags: {},
    changed: true,
    ...(!expectNoChanges && { octaviaPatience: octaviaAnswerTimeout }),
  };
  await runSteps(upOperation, facts, expectNoChanges ? refuseChanges : undefined);
  if (!facts.result) throw new Error("The cluster was not verified.");
  return facts.result;
}
