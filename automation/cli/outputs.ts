import type { Command } from "commander";
import { withStack } from "./context.js";
import { runCommand } from "./session.js";

/** Outputs that are secret: shown only when asked for. */
const secretOutputs = new Set(["kubeconfig"]);

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
          const outputs = Object.fromEntries(
            Object.entries(await service.outputs(stack)).map(([name, value]) => [
              name,
              secretOutputs.has(name) && !showSecrets ? "[secret]" : value,
            ]),
          );
          session.print(JSON.stringify(outputs, undefined, 2));
          session.emit({ type: "result", ok: true, outputs });
          return 0;
        }),
      );
    });
}
