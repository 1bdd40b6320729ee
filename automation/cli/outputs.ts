import type { Command } from "commander";
import { withStack } from "./context.js";
import { runCommand } from "./session.js";

export function registerOutputs(program: Command): void {
  program
    .command("outputs")
    .description("print the stack's outputs as JSON")
    .option("--show-secrets", "with the secret ones in clear", false)
    .action(async (_options, command: Command) => {
      const { stack, showSecrets } = command.optsWithGlobals<{
        stack: string;
        showSecrets: boolean;
      }>();
      await runCommand(command, (session) =>
        withStack(session, stack, async ({ service }) => {
          const outputs = await service.outputs(stack, {
            secrets: showSecrets ? "in clear" : "hidden",
          });
          session.print(JSON.stringify(outputs, undefined, 2));
          session.emit({ type: "result", ok: true, outputs });
          return 0;
        }),
      );
    });
}
