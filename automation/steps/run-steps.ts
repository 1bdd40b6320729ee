import type { Facts, Guard, Operation, Step } from "./step.js";

/** Runs guards in their order. */
export async function runGuards<F extends Facts>(
  guards: readonly Guard<F>[],
  facts: F,
): Promise<void> {
  for (const guard of guards) await guard(facts);
}

/**
 * Returns what a step finds to do; undefined for nothing. A step without `detect` always has
 * something to do.
 */
async function detected<F extends Facts>(
  step: Step<F, unknown>,
  facts: F,
): Promise<{ readonly found: unknown } | undefined> {
  if (step.when?.(facts) === false) return undefined;
  if (!step.detect) return { found: undefined };
  const found = await step.detect(facts);
  return found === undefined ? undefined : { found };
}

/**
 * Runs the guards, then the steps. Reports a step once it has found something to do.
 *
 * @param refuse called before a step with a description applies what it detected. Default: no call
 */
export async function runSteps<F extends Facts, Description>(
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
 * Returns the descriptions of the steps. Changes nothing.
 *
 * @param onDescription called with each description before the next step is asked. May throw
 */
export async function describeSteps<F extends Facts, Description>(
  steps: readonly Step<F, Description>[],
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
