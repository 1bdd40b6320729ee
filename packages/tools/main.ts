import { Command } from "commander";
import { runCommandLine } from "../../base/terminal/command-line.js";
import { getPackageRoot } from "../../base/paths.js";
import { registerCheckCommand } from "./check.js";
import { registerDevCommand } from "./dev.js";
import { registerTestCommand } from "./test.js";

/** Builds the command line with the development commands of the repository at `root`. */
export function buildProgram(root: string): Command {
  const program = new Command("node packages/tools/run.mjs").description(
    "the chores of this repository",
  );
  registerCheckCommand(program, root);
  registerTestCommand(program, root);
  registerDevCommand(program, root);
  return program;
}

/** Runs this command line in this process. Tests set `root` to a repository for tests. */
export const main = (args: readonly string[], root = getPackageRoot()): Promise<void> =>
  runCommandLine(() => buildProgram(root), args);
