import { Failure } from "../../base/failures/failure.js";
import { mergeRows, type PlanRow } from "../pulumi/preview-rows.js";
import { describeSteps } from "../steps/run-steps.js";
import type { PlannedChanges, OperationFacts, OperationStep } from "../steps/step.js";

/** Number of rows in the message. `preview` shows all rows. */
const shown = 12;

/** Returns the error for planned changes in a run that expects none. */
export function createUnexpectedChangesError(plan: readonly PlanRow[]): Failure {
  const lines = plan
    .slice(0, shown)
    .map(({ operation, type, name }) => `${operation} ${type} '${name}'`);
  const more = plan.length > shown ? [`and ${plan.length - shown} more`] : [];
  return new Failure(
    "UNEXPECTED_CHANGES",
    `No change was expected, but \`up\` would change:\n${[...lines, ...more].map((line) => `  ${line}`).join("\n")}`,
  );
}

/** Throws if a change has to be made before the rest of the plan is known. */
function refuseFirst({ first }: PlannedChanges): void {
  if (first === undefined) return;
  throw new Failure("UNEXPECTED_CHANGES", `No change was expected, but \`up\` would ${first}.`);
}

/** Throws if a step would change anything. */
export function refuseChanges(changes: PlannedChanges): void {
  refuseFirst(changes);
  const { rows = [] } = changes;
  if (rows.length > 0) throw createUnexpectedChangesError(rows);
}

/** Step in which the changes are planned, and its measured seconds. */
const planning = { title: "Check that nothing would change", expectedSeconds: 15 };

/**
 * Throws if the steps would change anything. Pulumi's own option `expectNoChanges` applies the
 * changes first and fails afterwards.
 */
export async function requireNoChanges<F extends OperationFacts>(
  steps: readonly OperationStep<F, PlannedChanges>[],
  facts: F,
): Promise<void> {
  await facts.run.step(planning, async () => {
    const planned = await describeSteps(steps, facts, refuseFirst);
    refuseChanges({ rows: mergeRows(planned.map(({ rows = [] }) => rows)) });
  });
}
