import type { Command } from "commander";
import { requirePackage } from "../../toolchain/optional-package.js";

/** Runs the command line of the lab with the arguments of this command. */
export async function runLab(command: Command): Promise<void> {
  const { json } = command.optsWithGlobals<{ readonly json?: boolean }>();
  const { main } = requirePackage("@stackadm/lab/cli");
  await main([...command.args, ...(json === true ? ["--json"] : [])]);
}
