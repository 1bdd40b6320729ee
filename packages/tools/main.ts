import { Command } from "commander";
import { runCommandLine } from "../../base/terminal/command-line.js";
import { packageRoot } from "../../base/paths.js";
import { registerCheck } from "./check.js";
import { registerDev } from "./dev.js";
import { registerTest } from "./test.js";

/** Builds the command line with the development commands of the repository at `root`. */
export function buildChores(root: string): Command {
  const program = new Command("node packages/tools/run.mjs").description(
    "the chores of this repository",
  );
  registerCheck(program, root);
  registerTest(program, root);
  registerDev(program, root);
  return program;
}

/** Runs this command line in this process. Tests pass their own repository. */
export const main = (args: readonly string[], root = packageRoot()): Promise<void> =>
  runCommandLine(() => buildChores(root), args);
