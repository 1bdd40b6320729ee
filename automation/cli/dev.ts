import { cloudIsNamed } from "../setup/environment.js";
import { bringUp } from "./bring-up.js";
import { withStack } from "./context.js";
import { requireOurProgram } from "./project.js";
import type { Session, StackOptions } from "./session.js";

async function startLab({ progress, signal }: Session): Promise<void> {
  // Loaded only here, because a configured cloud needs no lab.
  const { labUp } = await import("../../lab/lab.js");
  await labUp({ progress, signal });
}

/**
 * Runs all steps: sets up the toolchain, starts the lab if no cloud is configured, brings up the
 * cluster and verifies it.
 */
export async function dev(session: Session, options: StackOptions): Promise<number> {
  requireOurProgram("dev", options);
  const { startedAt } = session;
  if (!cloudIsNamed(process.env)) await startLab(session);
  const lab = { title: "Lab", milliseconds: Date.now() - startedAt };
  const toolsSince = Date.now();
  await withStack(session, options, (context) => {
    const tools = { title: "Toolchain", milliseconds: Date.now() - toolsSince };
    if (context.environment.onLab)
      session.progress.note(
        "This lab keeps its stacks inside itself: `lab down` deletes them, and a new lab begins with no stack.",
      );
    return bringUp(context, { before: context.environment.onLab ? [lab, tools] : [tools] });
  });
  return 0;
}
