import type { Command } from "commander";
import { tablesOf } from "../render/report.js";
import { table } from "../render/table.js";
import { clusterLine } from "../render/which-cluster.js";
import { withStack } from "./context.js";
import { runCommand } from "./session.js";

export function registerStatus(program: Command): void {
  program
    .command("status")
    .description("machines, nodes, etcd and samples as they are now; changes nothing")
    .action(async (_options, command: Command) => {
      const { stack } = command.optsWithGlobals<{ stack: string }>();
      await runCommand(command, (session) =>
        withStack(session, stack, async ({ service }) => {
          const status = await service.status(stack, { signal: session.signal });
          const servers = status.machines.map((one) => [one.name, one.role, one.zone, one.server]);
          const { cluster, warnings } = status;
          const head = [clusterLine(cluster), ...warnings.map((text) => `! ${text}`), ""];
          session.print(session.redactor.clean(head.join("\n")));
          session.print(table(["MACHINE", "ROLE", "ZONE", "SERVER"], servers));
          if (status.problem) throw status.problem;
          const { verification } = status;
          session.print(`\n${tablesOf(verification).join("\n\n")}`);
          session.emit({ type: "result", stack, ...cluster, warnings, servers, ...verification });
          return verification.ok ? 0 : 1;
        }),
      );
    });
}
