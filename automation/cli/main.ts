import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { runCommandLine } from "../../base/terminal/command-line.js";
import { declareCommands } from "./declare-commands.js";
import { getPackageRoot } from "../../base/paths.js";

const exitCodes = `
Exit codes: 0 success; 1 failed; 2 configuration or usage; 3 the cloud refuses or does not answer;
4 the stack is locked; 5 the cluster was created but does not work; 6 something would change, or differs, and
no change was expected; 130 stopped on request.
Ctrl-C once lets running steps finish; twice stops immediately. Run the same command again to continue where it stopped.`;

function version(): string {
  const text = readFileSync(join(getPackageRoot(), "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

export function buildProgram(): Command {
  const program = new Command("stackadm")
    .description(
      "kubeadm Kubernetes on OpenStack: infrastructure, kubeadm and add-ons in one graph",
    )
    .version(version())
    .option(
      "-s, --stack <name>",
      "name of the stack, an environment with its own Pulumi.<name>.yaml",
      "dev",
    )
    .option(
      "-C, --cwd <directory>",
      "directory of the project, with Pulumi.yaml (default: the current directory or the nearest one above it)",
    )
    .option(
      "--json",
      "print JSON lines for programs: events during the run, a result at the end",
      false,
    )
    .addHelpText("after", exitCodes);
  declareCommands(program);
  // The help of each command also lists the global options, because they may follow the command:
  // `stackadm up --stack prod`.
  for (const command of program.commands.flatMap((one) => [one, ...one.commands]))
    command.configureHelp({ showGlobalOptions: true });
  return program;
}

/** Runs the command line with the arguments of this process. */
export const main = (args: readonly string[]): Promise<void> => runCommandLine(buildProgram, args);

if (require.main === module) void main(process.argv.slice(2));
