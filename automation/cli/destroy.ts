import { rmSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { kinds } from "../../cloud/inventory.js";
import type { Orphan } from "../../cloud/orphans.js";
import { ClusterError } from "../cluster/cluster-error.js";
import { removeKubeconfig } from "../cluster/kubeconfig-file.js";
import { ownedIds } from "../cluster/state.js";
import { sweep } from "../cluster/sweep.js";
import { packageRoot } from "../cluster/workspace.js";
import { withStep } from "../progress.js";
import { OperationView } from "../render/operation-view.js";
import { timedPhases, timesTable } from "../render/report.js";
import { cloudOf, specOf, withStack, type StackContext } from "./context.js";
import { runCommand } from "./session.js";

/** The cluster's name in the cloud, also when the stack file has become invalid since. */
function clusterName(context: StackContext): string {
  try {
    return specOf(context).name;
  } catch (error) {
    if (error instanceof ClusterError && error.code === "INVALID_CONFIG") return context.stack;
    throw error;
  }
}

async function takeAway({ stack, session, service }: StackContext): Promise<OperationView> {
  const { progress, redactor } = session;
  const view = new OperationView({ progress, direction: "destroy", redactor });
  const step = progress.step(`Take away the cluster '${stack}'`, 90);
  try {
    await service.destroy(stack, {
      signal: session.signal,
      killSignal: session.killSignal,
      onNote: (text) => {
        progress.note(redactor.clean(text));
      },
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

export function registerDestroy(program: Command): void {
  program
    .command("destroy")
    .description("take away everything that the stack made, and check that nothing is left")
    .action(async (_options, command: Command) => {
      const { stack } = command.optsWithGlobals<{ stack: string }>();
      const startedAt = Date.now();
      await runCommand(command, (session) =>
        withStack(session, stack, async (context) => {
          const cluster = clusterName(context);
          const owned = ownedIds(await context.service.state(stack));
          const view = await takeAway(context);
          const swept = await withStep(
            session.progress,
            "Look for what is left in the project",
            5,
            async (step) => {
              const onDelete = ({ kind, name, claim }: Orphan): void => {
                step.update(`deleting the ${kind} '${name}' (${claim})`);
              };
              const cloud = await cloudOf(context);
              return (await sweep({ cloud, cluster, owned, signal: session.signal, onDelete }))
                .length;
            },
          );
          removeKubeconfig(stack);
          rmSync(join(packageRoot(), ".stackadm", stack), { recursive: true, force: true });
          const total = Date.now() - startedAt;
          const times = timedPhases(view.timeline.times());
          if (times.length > 0) session.print(`\n${timesTable(times, total)}\n`);
          session.print(
            `Nothing of cluster '${cluster}' is left in the project (asked for every ${kinds.join(", ")})` +
              (swept === 0 ? "." : `; ${swept} left-over objects were deleted.`),
          );
          session.emit({ type: "result", ok: true, stack, swept, times, milliseconds: total });
          return 0;
        }),
      );
    });
}
