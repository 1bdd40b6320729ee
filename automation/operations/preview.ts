import type { StackOperation } from "../engine/operation-context.js";
import type { PreviewOptions, PreviewResult } from "../engine/operation-options.js";
import { requireSameLocation } from "../guards/cloud-location.js";
import { readStackState, reportCluster } from "../guards/identify-clusters.js";
import { requirePackageProgramStack } from "../guards/cluster-stack.js";
import { checkSettings } from "../preflight/preflight.js";
import { mergeRows } from "../pulumi/preview-rows.js";
import { describeSteps, runGuards } from "../steps/run-steps.js";
import type { Guard } from "../steps/step.js";
import { prestartEngineWithProgram, type UpFacts } from "./run-program.js";
import { upOperation } from "./up.js";

const guards: readonly Guard<UpFacts>[] = [
  checkSettings,
  prestartEngineWithProgram,
  readStackState,
  requirePackageProgramStack,
  requireSameLocation,
  reportCluster,
];

/** Title of the step that computes the plan, and the measured duration in seconds. */
const planning = { title: "Plan the changes", expectedSeconds: 15 };

/**
 * Returns the changes that `up` would make. Changes nothing. The steps do not ask the cloud for
 * quotas and names, because the facts contain no specification.
 */
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
  await runGuards(guards, facts);
  const planned = await run.step(planning, () => describeSteps(upOperation.steps, facts));
  return { plan: mergeRows(planned.map(({ rows = [] }) => rows)) };
}
