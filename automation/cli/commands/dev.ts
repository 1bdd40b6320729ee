import { runTogether } from "../../../base/run-together.js";
import { cloudIsNamed, usesStandInsByDefault } from "../../setup/operation-environment.js";
import { readStackFile } from "../../pulumi/workspace.js";
import { bringUp } from "./bring-up.js";
import { openstackPluginOf, withStack } from "../stack-context.js";
import { findProject, requireOurProgram } from "../project.js";
import type { Session, StackOptions } from "../../../base/terminal/session.js";

/**
 * Starts the lab and prepares the toolchain, side by side: where nothing is built yet, each waits
 * for downloads and linkers while the other one compiles.
 */
async function startLab(session: Session, { stack, cwd }: StackOptions): Promise<void> {
  const { progress } = session;
  const settings = readStackFile(findProject(cwd).directory, stack);
  // Loaded only here, because a configured cloud needs no lab.
  const { labUp } = await import("../../../packages/lab/lab.js");
  const { ensureToolchain } = await import("../../toolchain/toolchain.js");
  const tools = {
    progress,
    standIns: usesStandInsByDefault(process.env),
    openstackPlugin: openstackPluginOf(settings),
  };
  await runTogether(
    (signal) => labUp({ progress, signal }),
    (signal) => ensureToolchain({ ...tools, signal }),
    session.signal,
  );
}

/**
 * Runs all steps: sets up the toolchain, starts the lab if no cloud is configured, brings up the
 * cluster and verifies it.
 */
export async function devCommand(session: Session, options: StackOptions): Promise<number> {
  requireOurProgram("dev", options);
  const onLab = !cloudIsNamed(process.env);
  if (onLab) await startLab(session, options);
  const lab = { title: "Lab and toolchain", milliseconds: Date.now() - session.startedAt };
  const toolsSince = Date.now();
  await withStack(session, options, (context) => {
    const tools = { title: "Toolchain", milliseconds: Date.now() - toolsSince };
    if (context.environment.onLab)
      session.progress.note(
        "This lab keeps its stacks inside itself: `lab down` deletes them, and a new lab begins with no stack.",
      );
    return bringUp(context, { before: [onLab ? lab : tools] });
  });
  return 0;
}
