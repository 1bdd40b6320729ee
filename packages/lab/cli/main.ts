import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { runCommandLine } from "../../../base/terminal/command-line.js";
import { runCliCommand } from "../../../base/terminal/session.js";
import { getPackageRoot } from "../package-root.js";
import {
  runAddCommand,
  runDownCommand,
  runStatusCommand,
  labFunctions,
  runUpCommand,
  type LabFunctions,
} from "./commands.js";

function version(): string {
  const text = readFileSync(join(getPackageRoot(), "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** Builds the command-line program, whose commands call the functions in `lab`. */
export function buildProgram(lab: LabFunctions = labFunctions): Command {
  const program = new Command("stackadm-lab")
    .description("run OpenStack's services on this machine")
    .version(version())
    .option(
      "--json",
      "print JSON lines for programs: events during the run, a result at the end",
      false,
    );
  program
    .command("up")
    .description("start the lab; does nothing if it runs")
    .option("--kubernetes <version>", "Kubernetes version that the lab's repositories offer")
    .action((options: { kubernetes?: string }, own: Command) =>
      runCliCommand(own, (session) => runUpCommand(lab, session, options)),
    );
  program
    .command("status")
    .description("show the lab's state; exit code 1 if the lab is not up")
    .action((_: unknown, own: Command) =>
      runCliCommand(own, (session) => runStatusCommand(lab, session)),
    );
  program
    .command("add <what>")
    .description(
      "add an extra part to the lab's registry: calico (also for Canal), keystone-auth, metrics-server, snapshots, traefik; or emulated-machines (images of virtual machines)",
    )
    .action((what: string, _: unknown, own: Command) =>
      runCliCommand(own, (session) => runAddCommand(lab, session, what)),
    );
  program
    .command("down")
    .description("destroy the lab with everything in it; caches are kept")
    .action((_: unknown, own: Command) =>
      runCliCommand(own, (session) => runDownCommand(lab, session)),
    );
  for (const command of program.commands) command.configureHelp({ showGlobalOptions: true });
  return program;
}

/** Runs the command in `args`, the arguments of this process. */
export const main = (args: readonly string[]): Promise<void> =>
  runCommandLine(() => buildProgram(), args);
