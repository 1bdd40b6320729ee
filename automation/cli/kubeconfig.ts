import type { Command } from "commander";
import { withStack } from "./context.js";
import { runCommand } from "./session.js";

export function registerKubeconfig(program: Command): void {
  program
    .command("kubeconfig")
    .description("write the administrator's kubeconfig (mode 0600) and print its path")
    .option("--print", "print the kubeconfig itself instead; it is a secret", false)
    .action(async (_options, command: Command) => {
      const { stack, print } = command.optsWithGlobals<{ stack: string; print: boolean }>();
      await runCommand(command, (session) =>
        withStack(session, stack, async ({ service }) => {
          if (print) {
            const kubeconfig = await service.kubeconfig(stack);
            session.print(kubeconfig.trimEnd());
            session.emit({ type: "result", ok: true, kubeconfig });
          } else {
            const path = await service.kubeconfigFile(stack);
            session.print(path);
            session.emit({ type: "result", ok: true, path });
          }
          return 0;
        }),
      );
    });
}
