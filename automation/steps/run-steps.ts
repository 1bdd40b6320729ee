import type { OperationFacts, Guard, Operation, OperationStep } from "./step.js";

/** Runs the guards in the order of the list. */
export async function runGuards<F extends OperationFacts>(
  guards: readonly Guard<F>[],
  facts: F,
): Promise<void> {
  for (const guard of guards) await guard(facts);
}

/**
 * Returns the work that a step has found, or undefined if there is no work. A step without `detect`
 * always has work.
 */
async function detected<F extends OperationFacts>(
  step: OperationStep<F, unknown>,
  facts: F,
): Promise<{ readonly found: unknown } | undefined> {
  if (step.when?.(facts) === false) return undefined;
  if (!step.detect) return { found: undefined };
  const found = await step.detect(facts);
  return found === undefined ? undefined : { found };
}

/**
 * Runs the guards, then the steps. Skips steps without work, and does not report them.
 *
 * @param refuse called with a step's description after `detect` has found work, and before the step
 * runs. May throw to prevent the step. Default: all steps run
 */
export async function runSteps<F extends OperationFacts, Description>(
  { guards, steps }: Operation<F, Description>,
  facts: F,
  refuse?: (description: Description) => void,
): Promise<void> {
  await runGuards(guards, facts);
  for (const step of steps) {
    const work = await detected(step, facts);
    if (!work) continue;
    if (refuse && step.detect && step.describe) refuse(await step.describe(facts, work.found));
    if (step.silent === true) await step.apply(facts, work.found);
    else await facts.run.step(step, () => step.apply(facts, work.found));
  }
}

/**
 * Returns the descriptions of all steps that have work. Changes nothing.
 *
 * @param onDescription called with each description before the next step is examined; may throw
 */
export async function describeSteps<F extends OperationFacts, Description>(
  steps: readonly OperationStep<F, Description>[],
  facts: F,
  onDescription?: (description: Description) => void,
): Promise<Description[]> {
  const descriptions: Description[] = [];
  for (const step of steps) {
    if (!step.describe) continue;
    const work = await detected(step, facts);
    if (!work) continue;
    const description = await step.describe(facts, work.found);
    onDescription?.(description);
    descriptions.push(description);
  }
  return descriptions;
}
