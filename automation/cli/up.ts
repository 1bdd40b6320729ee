import type { Command } from "commander";
import { bringUp } from "./bring-up.js";
import { withStack } from "./context.js";
import { runCommand } from "./session.js";

export function registerUp(program: Command): void {
  program
    .command("up")
    .description("make or change the cluster of a stack, and look whether it works")
    .option("--refresh", "read the real state of the cloud first", false)
    .option("--force", "skip the questions to the cloud, but for names of somebody else's", false)
    .action(async (_options, command: Command) => {
      const { stack, refresh, force } = command.optsWithGlobals<{
        stack: string;
        refresh: boolean;
        force: boolean;
      }>();
      const startedAt = Date.now();
      await runCommand(command, async (session) => {
        await withStack(session, stack, (context) =>
          bringUp(context, { refresh, force, startedAt }),
        );
        return 0;
      });
    });
}
