import { withStep } from "../../../base/progress.js";
import { inventoryKinds } from "../../../openstack/inventory/inventory.js";
import type { DestroyResult } from "../../engine/operation-options.js";
import { renderHiddenKindsLines, renderKeptObjectLines } from "../../render/orphan-tables.js";
import { renderPhaseTimesTable } from "../../render/cluster-report.js";
import { removeUrlPassword } from "../../../base/url-passwords.js";
import { confirmDeletion, requireConfirmable } from "../confirm.js";
import {
  createRunView,
  followOperation,
  withStack,
  type StackContext,
  type StackOptions,
} from "../stack-context.js";
import type { CommandSession } from "../../../base/terminal/session.js";

interface Options extends StackOptions {
  readonly abandon: boolean;
  readonly yes: boolean;
}

/** Returns the result of a destroy as text. */
function outcome(
  { stack, environment: { backend } }: StackContext,
  { clusters, held, deleted, kept, others = [], hidden = [] }: DestroyResult,
): string {
  const named = clusters.map((name) => `'${name}'`).join(", ");
  const whose = clusters.length > 1 ? `clusters ${named}` : `cluster ${named}`;
  const where = hidden.length > 0 ? "among what the cloud shows" : "in the project";
  const other = kept.length + others.length > 0 ? " else" : "";
  if (!held)
    return `There is nothing to destroy: the state at ${removeUrlPassword(backend)} has no resources of stack '${stack}', and no${other} object ${where} has the name of ${whose}.`;
  const swept = deleted.length > 0 ? `; ${deleted.length} left-over objects were deleted.` : ".";
  const asked = inventoryKinds.filter((kind) => !hidden.includes(kind));
  return `Nothing${other} of ${whose} is left ${where} (checked every ${asked.join(", ")})${swept}`;
}

async function destroyStack(context: StackContext, { abandon, yes }: Options): Promise<number> {
  const { session, stack, service } = context;
  const plan = await withStep(session.progress, "Plan the destruction", 3, () =>
    service.destroyPlan(stack, { abandon, signal: session.signal }),
  );
  await confirmDeletion(context, plan, yes);
  const startedAt = Date.now();
  // The plan that was printed above already names the clusters.
  const view = createRunView(context, { direction: "destroy", showsCluster: false });
  const operation = service.start("destroy", stack, { abandon, identities: plan.identities });
  const result = await followOperation(context, operation, view);
  const { clusters, deleted, kept, held, others, hidden } = result;
  const milliseconds = held ? Date.now() - startedAt : 0;
  const times = view.times();
  if (times.length > 0) session.print(`\n${renderPhaseTimesTable(times, milliseconds)}\n`);
  session.print(outcome(context, result));
  for (const line of renderHiddenKindsLines(hidden)) session.print(line);
  if (kept.length > 0) session.print(renderKeptObjectLines(kept));
  const swept = deleted.length;
  session.emit({
    type: "result",
    ok: true,
    stack,
    clusters,
    swept,
    kept,
    others,
    hidden,
    times,
    milliseconds,
  });
  return 0;
}

export function runDestroyCommand(session: CommandSession, options: Options): Promise<number> {
  requireConfirmable(session, "destroy", options.yes);
  return withStack(session, options, (context) => destroyStack(context, options));
}
