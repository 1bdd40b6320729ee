import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { kinds } from "../../cloud/inventory.js";
import { findMarked, holdsData, type Orphan } from "../../cloud/orphans.js";
import { isIdentity } from "../../cloud/ownership.js";
import { ClusterError } from "../cluster/cluster-error.js";
import { removeKubeconfig } from "../cluster/kubeconfig-file.js";
import { holdsNothing, identitiesOf, ownedIds, type StateExport } from "../cluster/state.js";
import { orphansCommand, sweep, type Swept } from "../cluster/sweep.js";
import { withStep } from "../../base/progress.js";
import { clusterLines, keptLines } from "../render/marked.js";
import { OperationView } from "../render/operation-view.js";
import { timedPhases, timesTable } from "../render/report.js";
import { cloudOf, specOf, withStack, type StackContext } from "./context.js";
import { runCommand, type Session } from "./session.js";
import { packageRoot } from "../../base/paths.js";

/** The cluster's name in the cloud, also when the stack file has become invalid since. */
function clusterName(context: StackContext): string {
  try {
    return specOf(context).name;
  } catch (error) {
    if (error instanceof ClusterError && error.code === "INVALID_CONFIG") return context.stack;
    throw error;
  }
}

/**
 * There is nothing that this state holds. Somebody who meant a living cluster (with another backend, on another machine)
 * hears where it is; it is not touched.
 */
async function nothingHeld(context: StackContext, cluster: string): Promise<number> {
  const { session, stack, surroundings, service } = context;
  const marked = (await findMarked(await cloudOf(context))).filter(
    ({ mark }) => mark.name === cluster,
  );
  const kept = marked.filter(holdsData);
  const rest = marked.filter((orphan) => !holdsData(orphan));
  const identity = rest.find(({ mark }) => isIdentity(mark.identity))?.mark.identity;
  if (rest.length > 0)
    throw new ClusterError(
      "STACK_NOT_FOUND",
      `The state at ${surroundings.backend} holds nothing of stack '${stack}', so nothing was destroyed. The project has:\n${clusterLines(rest)}`,
      `Set PULUMI_BACKEND_URL to where the state of this cluster is.${identity === undefined ? "" : ` If that is lost for good: \`${orphansCommand(identity)}\`.`}`,
    );
  // The empty stack itself goes.
  await service.destroy(stack, runOptions(session));
  session.print(
    `There is nothing to destroy: the state at ${surroundings.backend} holds nothing of stack '${stack}', and nothing${kept.length > 0 ? " else" : ""} in the project carries the name of cluster '${cluster}'.`,
  );
  if (kept.length > 0) session.print(keptLines(kept));
  session.emit({ type: "result", ok: true, stack, swept: 0, kept, times: [], milliseconds: 0 });
  return 0;
}

/** How the service's notes reach the screen, and a stop the service. */
const runOptions = ({ progress, redactor, signal, killSignal }: Session) => ({
  signal,
  killSignal,
  onNote: (text: string) => {
    progress.note(redactor.clean(text));
  },
});

async function takeAway(
  { stack, session, service }: StackContext,
  abandon: boolean,
): Promise<OperationView> {
  const { progress, redactor } = session;
  const view = new OperationView({ progress, direction: "destroy", redactor });
  const step = progress.step(`Take away the cluster '${stack}'`, 90);
  try {
    await service.destroy(stack, {
      ...runOptions(session),
      abandon,
      onEvent: (event) => {
        session.emit({ type: "event", event });
        view.take(event);
      },
    });
    view.finish(false);
    step.done();
    return view;
  } catch (error) {
    view.finish(true);
    step.failed();
    throw error;
  }
}

const sweepAll = (context: StackContext, state: StateExport | undefined): Promise<Swept> =>
  withStep(context.session.progress, "Look for what is left in the project", 5, async (step) =>
    sweep({
      cloud: await cloudOf(context),
      identities: identitiesOf(state),
      owned: ownedIds(state),
      signal: context.session.signal,
      onDelete: ({ kind, name, claim }: Orphan) => {
        step.update(`deleting the ${kind} '${name}' (${claim})`);
      },
    }),
  );

async function destroy(context: StackContext, abandon: boolean): Promise<number> {
  const { session, stack, service } = context;
  const startedAt = Date.now();
  const cluster = clusterName(context);
  const state = await service.state(stack);
  if (holdsNothing(state)) return nothingHeld(context, cluster);
  const view = await takeAway(context, abandon);
  const { deleted, kept } = await sweepAll(context, state);
  removeKubeconfig(stack);
  rmSync(join(packageRoot(), ".stackadm", stack), { recursive: true, force: true });
  const total = Date.now() - startedAt;
  const times = timedPhases(view.timeline.times());
  if (times.length > 0) session.print(`\n${timesTable(times, total)}\n`);
  const swept = deleted.length;
  session.print(
    `Nothing${kept.length > 0 ? " else" : ""} of cluster '${cluster}' is left in the project (asked for every ${kinds.join(", ")})` +
      (swept === 0 ? "." : `; ${swept} left-over objects were deleted.`),
  );
  if (kept.length > 0) session.print(keptLines(kept));
  session.emit({ type: "result", ok: true, stack, swept, kept, times, milliseconds: total });
  return 0;
}

export function registerDestroy(program: Command): void {
  program
    .command("destroy")
    .description(
      "take away everything that the stack's state holds, and check that nothing is left",
    )
    .option(
      "--abandon",
      "for a cluster whose API is gone for good: skip what needs it; volumes with data stay",
      false,
    )
    .action(async (_options, command: Command) => {
      const { stack, abandon } = command.optsWithGlobals<{ stack: string; abandon: boolean }>();
      await runCommand(command, (session) =>
        withStack(session, stack, (context) => destroy(context, abandon)),
      );
    });
}
