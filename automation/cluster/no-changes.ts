import { ClusterError } from "./cluster-error.js";
import { collecting } from "./events.js";
import { tellBalancers } from "./failed-balancers.js";
import { passOver } from "./others-credentials.js";
import { planRows, type PlanRow } from "./plan-rows.js";
import { isInterrupted } from "./recovery.js";
import { Run } from "./run.js";
import type { StateExport } from "./state.js";

/** So many rows say what it is about; `preview` shows all. */
const shown = 12;

/** What would change, where nothing was to. */
export function unexpectedChanges(plan: readonly PlanRow[]): ClusterError {
  const lines = plan
    .slice(0, shown)
    .map(({ operation, type, name }) => `${operation} ${type} '${name}'`);
  const more = plan.length > shown ? [`and ${plan.length - shown} more`] : [];
  return new ClusterError(
    "UNEXPECTED_CHANGES",
    `No change was expected, and \`up\` would change:\n${[...lines, ...more].map((line) => `  ${line}`).join("\n")}`,
  );
}

/** What an `up` would do before all else, where nothing was to change. */
export const unexpectedRepair = (what: string): ClusterError =>
  new ClusterError("UNEXPECTED_CHANGES", `No change was expected, and \`up\` would ${what}.`);

/** Refuses where `up` would repair something, or change anything. The engine by itself would change it, and then say that this was not expected. */
export async function requireNoChanges(run: Run, state: StateExport | undefined): Promise<void> {
  if (state && isInterrupted(state))
    throw unexpectedRepair("first repair what a run left undecided that did not come to its end");
  const { signal, killSignal, refresh, parallel, settings } = run.options;
  const { events, onEvent } = collecting({});
  const balancers = await tellBalancers(run, state);
  run.stage("preflight", "whether anything would change");
  const looking = new Run(run.service, run.stack, {
    ...{ signal, killSignal, refresh, parallel, settings, onEvent },
  });
  try {
    await looking.engine("preview", await passOver(looking, state));
  } finally {
    looking.close();
  }
  const plan = planRows(events, balancers);
  if (plan.length > 0) throw unexpectedChanges(plan);
}
