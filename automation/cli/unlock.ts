import type { Command } from "commander";
import { withStack } from "./context.js";
import { runCommand } from "./session.js";

export function registerUnlock(program: Command): void {
  program
    .command("unlock")
    .description("remove the lock that a dead operation left; refuses while its process runs")
    .action(async (_options, command: Command) => {
      const { stack } = command.optsWithGlobals<{ stack: string }>();
      await runCommand(command, (session) =>
        withStack(session, stack, async ({ service }) => {
          const removed = await service.unlock(stack);
          session.print(
            removed.length === 0
              ? `Stack '${stack}' is not locked.`
              : `Removed the lock of ${removed.join(" and of ")}.`,
          );
          session.emit({ type: "result", ok: true, removed });
          return 0;
        }),
      );
    });
}
