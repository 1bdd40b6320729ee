import type { Command } from "commander";
import { withStack } from "./context.js";
import { runCommand } from "./session.js";

export function registerRefresh(program: Command): void {
  program
    .command("refresh")
    .description("read what is really there into the stack's state; changes nothing in the cloud")
    .action(async (_options, command: Command) => {
      const { stack } = command.optsWithGlobals<{ stack: string }>();
      await runCommand(command, (session) =>
        withStack(session, stack, async ({ service }) => {
          const step = session.progress.step(`Read the resources of '${stack}'`, 30);
          let changed = 0;
          try {
            await service.refresh(stack, {
              signal: session.signal,
              killSignal: session.killSignal,
              onEvent: (event) => {
                session.emit({ type: "event", event });
                if (event.type === "finished") changed += 1;
              },
            });
          } catch (error) {
            step.failed();
            throw error;
          }
          step.done(changed === 0 ? "nothing differs" : `${changed} differ`);
          session.emit({ type: "result", ok: true, changed });
          return 0;
        }),
      );
    });
}
