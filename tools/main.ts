import { Command } from "commander";
import { runCommandLine } from "../automation/cli/command-line.js";
import { packageRoot } from "../base/paths.js";
import { registerCheck } from "./check.js";
import { registerTest } from "./test.js";

/** The chores of the repository that lies at `root`. */
export function buildChores(root: string): Command {
  const program = new Command("node tools/run.mjs").description("the chores of this repository");
  registerCheck(program, root);
  registerTest(program, root);
  return program;
}

/** Runs the chores' command line of this process; a test gives a repository of its own. */
export const main = (args: readonly string[], root = packageRoot()): Promise<void> =>
  runCommandLine(() => buildChores(root), args);
