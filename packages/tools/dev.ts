import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Command } from "commander";
import { namesCloud } from "../../automation/setup/operation-environment.js";
import { run } from "../../base/run-command.js";

const stackadm = "automation/cli/stackadm.mjs";
const lab = "packages/lab/cli/stackadm-lab.mjs";

export interface DevEnvironment {
  /** Directory of the repository. */
  readonly root: string;
  readonly env: NodeJS.ProcessEnv;
}

/** Runs one of the repository's command lines in this terminal. Returns the exit code. */
async function runHere(
  file: string,
  args: readonly string[],
  { root, env }: DevEnvironment,
): Promise<number> {
  const child = spawn(process.execPath, [join(root, file), ...args], { stdio: "inherit", env });
  // The terminal also sends Ctrl-C to the child process. The child process then ends itself.
  const wait = (): void => undefined;
  const end = (): void => void child.kill("SIGTERM");
  process.on("SIGINT", wait).on("SIGTERM", end);
  try {
    const [code] = (await once(child, "close")) as [number | null];
    return code ?? 1;
  } finally {
    process.off("SIGINT", wait).off("SIGTERM", end);
  }
}

/**
 * Starts the lab if no cloud is configured, and then runs `stackadm up`. Returns the exit code.
 * Prepares the toolchain at the same time as the lab. Both wait for downloads and linkers if
 * nothing is built yet, so one can compile while the other waits.
 */
export async function startLabAndRunUp(
  args: readonly string[],
  place: DevEnvironment,
): Promise<number> {
  const { root, env } = place;
  if (!namesCloud(env)) {
    // Ignores failures here, because `up` also prepares the toolchain and reports them.
    const toolchain = run(process.execPath, [join(root, stackadm), "toolchain"], { env }).catch(
      () => undefined,
    );
    const code = await runHere(lab, ["up"], place);
    await toolchain;
    if (code !== 0) return code;
  }
  return runHere(stackadm, ["up", ...args], place);
}

export function registerDevCommand(program: Command, root: string): void {
  program
    .command("dev")
    .description("start the lab if no cloud is configured, then run `stackadm up`")
    .argument("[arguments...]", "arguments of `stackadm up`")
    .allowUnknownOption()
    .addHelpText(
      "after",
      "\nA cloud is configured when OS_CLOUD or OS_AUTH_URL is set. A lab keeps its stacks inside itself, so a new lab begins\n" +
        "with no stack.",
    )
    .action(async (args: string[]) => {
      process.exitCode = await startLabAndRunUp(args, { root, env: process.env });
    });
}
