import type { Command } from "commander";
import { requirePackage } from "../../toolchain/optional-package.js";

interface LabCommandLine {
  main(args: readonly string[]): Promise<void>;
}

/** Runs the command line of the lab with the arguments of this command. */
export async function runLab(command: Command): Promise<void> {
  const { json } = command.optsWithGlobals<{ readonly json?: boolean }>();
  const { main } = requirePackage<LabCommandLine>("@stackadm/lab/cli");
  await main([...command.args, ...(json === true ? ["--json"] : [])]);
}
