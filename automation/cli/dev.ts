import type { Command } from "commander";
import { cloudIsNamed } from "../setup/environment.js";
import { bringUp } from "./bring-up.js";
import { withStack } from "./context.js";
import { runCommand, type Session } from "./session.js";

async function startLab({ progress, signal }: Session): Promise<void> {
  // Loaded late: whoever has a cloud needs no lab.
  const { labUp } = await import("../../lab/lab.js");
  await labUp({ progress, signal });
}

export function registerDev(program: Command): void {
  program
    .command("dev")
    .description("everything: toolchain, the lab if no cloud is configured, the cluster, its proof")
    .addHelpText(
      "after",
      "\nA cloud is configured when OS_CLOUD or OS_AUTH_URL is set. Without one the lab is started: a whole\n" +
        "OpenStack on this machine. The stacks of a lab are kept inside it, so a new lab begins with none.",
    )
    .action(async (_options, command: Command) => {
      const { stack } = command.optsWithGlobals<{ stack: string }>();
      const startedAt = Date.now();
      await runCommand(command, async (session) => {
        if (!cloudIsNamed(process.env)) await startLab(session);
        const lab = { title: "Lab", milliseconds: Date.now() - startedAt };
        const toolsSince = Date.now();
        await withStack(session, stack, (context) => {
          const tools = { title: "Toolchain", milliseconds: Date.now() - toolsSince };
          if (context.environment.onLab)
            session.progress.note(
              "The stacks of this lab are kept inside it: `lab down` takes them along, a new lab begins with none.",
            );
          return bringUp(context, {
            startedAt,
            before: context.environment.onLab ? [lab, tools] : [tools],
          });
        });
        return 0;
      });
    });
}
