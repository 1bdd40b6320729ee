import {
  createDestroyPlan,
  startInventory,
  type DestroyStepDescription,
  type DestroyPlanFacts,
} from "../destroy/destroy-plan.js";
import { hadResources } from "../destroy/delete-resources.js";
import type { SweepResult } from "../destroy/sweep-leftovers.js";
import type { StackOperation } from "../engine/operation-context.js";
import type { DestroyOptions, DestroyPlan, DestroyResult } from "../engine/operation-options.js";
import { requireSameLocation } from "../guards/cloud-location.js";
import { readStackState } from "../guards/identify-clusters.js";
import { requireClusterStack } from "../guards/cluster-stack.js";
import { readProtection } from "../guards/destroy-protection.js";
import type { ForeignCredentialFacts } from "../guards/foreign-credentials.js";
import { findClusterNames } from "../pulumi/stack-state.js";
import { describeSteps, runGuards, runSteps } from "../steps/run-steps.js";
import type { Operation } from "../steps/step.js";

/** Facts that the guards and steps of `destroy` and `force-destroy` collect. */
export interface DestroyFacts extends DestroyPlanFacts, ForeignCredentialFacts {
  swept: SweepResult;
}

const factsOf = (
  run: StackOperation,
  { identities }: Pick<DestroyOptions, "identities">,
): DestroyFacts => ({
  run,
  meant: identities,
  settings: { name: run.stack, protect: false },
  others: [],
  flags: {},
  swept: { deleted: [], kept: [] },
});

type Destroy = Operation<DestroyFacts, DestroyStepDescription>;

export async function runDestroy(
  operation: Destroy,
  run: StackOperation,
  options: DestroyOptions,
): Promise<DestroyResult> {
  const facts = factsOf(run, options);
  await runSteps(operation, facts);
  const { settings, initial, swept, others } = facts;
  return {
    clusters: findClusterNames(initial, settings.name),
    held: hadResources(facts),
    ...swept,
    ...(others.length > 0 && { others }),
  };
}

/** Returns what a destroy would delete and keep. Changes nothing. */
export async function describeDestroy(
  { steps }: Destroy,
  run: StackOperation,
): Promise<DestroyPlan> {
  const facts = factsOf(run, {});
  await runGuards(
    [startInventory, readProtection, readStackState, requireClusterStack, requireSameLocation],
    facts,
  );
  return createDestroyPlan(facts, await describeSteps(steps, facts));
}
