import { ClusterError } from "../pulumi/cluster-error.js";
import { collectEvents } from "../pulumi/events.js";
import { planBrokenBalancers } from "./broken-load-balancers.js";
import { excludeForeignCredentials } from "../guards/foreign-credentials.js";
import { planRows, type PlanRow } from "../pulumi/preview-rows.js";
import { rewrittenServerGroups } from "../guards/plugin-conversion.js";
import { isInterrupted } from "./undo-pending-creates.js";
import { StackOperation } from "../engine/operation-context.js";
import type { StateExport } from "../pulumi/stack-state.js";

/** Number of rows in the message. `preview` shows all rows. */
const shown = 12;

/** Returns the error for planned changes in a run that must not change anything. */
export function unexpectedChanges(plan: readonly PlanRow[]): ClusterError {
  const lines = plan
    .slice(0, shown)
    .map(({ operation, type, name }) => `${operation} ${type} '${name}'`);
  const more = plan.length > shown ? [`and ${plan.length - shown} more`] : [];
  return new ClusterError(
    "UNEXPECTED_CHANGES",
    `No change was expected, but \`up\` would change:\n${[...lines, ...more].map((line) => `  ${line}`).join("\n")}`,
  );
}

/** Returns the error for a planned repair in a run that must not change anything. */
export const unexpectedRepair = (what: string): ClusterError =>
  new ClusterError("UNEXPECTED_CHANGES", `No change was expected, but \`up\` would ${what}.`);

/**
 * Throws if `up` would repair or change anything. Pulumi's option `expectNoChanges` is no
 * substitute: with this option, Pulumi makes the changes, and then fails.
 */
export async function requireNoChanges(
  run: StackOperation,
  state: StateExport | undefined,
): Promise<void> {
  if (state && isInterrupted(state))
    throw unexpectedRepair("first repair what an interrupted run left");
  const { signal, killSignal, refresh, parallel, settings } = run.options;
  const { events, onEvent } = collectEvents({});
  const balancers = await planBrokenBalancers(run, state);
  run.stage("preflight", "whether anything would change");
  const looking = new StackOperation(run.service, run.stack, {
    signal,
    killSignal,
    refresh,
    parallel,
    settings,
    onEvent,
  });
  try {
    await looking.engine("preview", await excludeForeignCredentials(looking, state));
  } finally {
    looking.close();
  }
  const plan = planRows(events, balancers, rewrittenServerGroups(run, state));
  if (plan.length > 0) throw unexpectedChanges(plan);
}
