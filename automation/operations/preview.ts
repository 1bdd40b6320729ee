import type { StackOperation } from "../engine/operation-context.js";
import type { PreviewOptions, PreviewResult } from "../engine/operation-options.js";
import { requireSameLocation } from "../guards/cloud-location.js";
import { readStackState, reportCluster } from "../guards/cluster-identity.js";
import { requireClusterStackOfProgram } from "../guards/cluster-stack.js";
import { checkSettings } from "../preflight/preflight.js";
import { mergeRows } from "../pulumi/preview-rows.js";
import { describeSteps } from "../steps/run-steps.js";
import type { Changes, Operation } from "../steps/step.js";
import { startEngine, type UpFacts } from "./run-program.js";
import { upOperation } from "./up.js";

/** Describes the steps of `up`. Without a specification, the cloud is not surveyed. */
export const previewOperation: Operation<UpFacts, Changes> = {
  guards: [
    checkSettings,
    startEngine,
    readStackState,
    requireClusterStackOfProgram,
    requireSameLocation,
    reportCluster,
  ],
  steps: upOperation.steps,
};

export async function preview(
  run: StackOperation,
  options: PreviewOptions,
): Promise<PreviewResult> {
  const facts: UpFacts = {
    run,
    options,
    unrecorded: new Set<string>(),
    others: [],
    flags: {},
    changed: false,
  };
  const planned = await describeSteps(previewOperation, facts);
  return { plan: mergeRows(planned.map(({ rows = [] }) => rows)) };
}
