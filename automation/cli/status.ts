import type { Command } from "commander";
import { listObjects } from "../../cloud/inventory.js";
import { checksTable, nodesTable } from "../render/report.js";
import { table } from "../render/table.js";
import { controlPlaneTarget, parseOutputs, type ClusterOutputs } from "../verify/outputs.js";
import { verifyCluster, type Verification } from "../verify/verify.js";
import { cloudOf, specOf, withStack, type StackContext } from "./context.js";
import { runCommand } from "./session.js";

/** How long a look may take when something does not answer. */
const patience = 5_000;

async function machines(context: StackContext, outputs: ClusterOutputs): Promise<string[][]> {
  const servers = await listObjects(await cloudOf(context), "server");
  return outputs.nodes.map(({ name, role, zone, serverId }) => [
    name,
    role,
    zone,
    servers.find(({ id }) => id === serverId)?.status ?? "GONE",
  ]);
}

async function look(context: StackContext, outputs: ClusterOutputs): Promise<Verification> {
  const agentSocket = context.surroundings.agent?.socket ?? "";
  const { user } = specOf(context).ssh;
  return verifyCluster({
    outputs,
    controlPlane: controlPlaneTarget(outputs, { user, agentSocket }),
    signal: context.session.signal,
    timeout: patience,
  });
}

export function registerStatus(program: Command): void {
  program
    .command("status")
    .description("machines, nodes and samples of a cluster as they are now; changes nothing")
    .action(async (_options, command: Command) => {
      const { stack } = command.optsWithGlobals<{ stack: string }>();
      await runCommand(command, (session) =>
        withStack(session, stack, async (context) => {
          const outputs = parseOutputs(await context.service.outputs(stack));
          const servers = await machines(context, outputs);
          session.print(table(["MACHINE", "ROLE", "ZONE", "SERVER"], servers));
          const verification = await look(context, outputs);
          session.print(`\n${nodesTable(verification)}`);
          if (verification.services.length > 0) session.print(`\n${checksTable(verification)}`);
          session.emit({ type: "result", stack, servers, ...verification });
          return verification.ok ? 0 : 1;
        }),
      );
    });
}
