import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Command } from "commander";
import { packageRoot } from "../cluster/workspace.js";
import { UserError } from "../user-error.js";
import { registerCheck } from "./check.js";
import { registerDestroy } from "./destroy.js";
import { registerDev } from "./dev.js";
import { registerDoctor } from "./doctor.js";
import { registerEnv } from "./env.js";
import { registerKubeconfig } from "./kubeconfig.js";
import { registerLab } from "./lab.js";
import { registerOrphans } from "./orphans.js";
import { registerOutputs } from "./outputs.js";
import { registerPreview } from "./preview.js";
import { registerRefresh } from "./refresh.js";
import { registerStatus } from "./status.js";
import { registerTest } from "./test.js";
import { registerToolchain } from "./toolchain.js";
import { registerUnlock } from "./unlock.js";
import { registerUp } from "./up.js";

const exitCodes = `
Exit codes: 0 well; 1 failed; 2 configuration or usage; 3 the cloud refuses or does not answer;
4 the stack is locked; 5 the cluster was made but does not work; 130 stopped on request.
Ctrl-C once stops in good order, twice at once. Running the same command again goes on where it stopped.`;

function version(): string {
  const text = readFileSync(join(packageRoot(), "package.json"), "utf8");
  return (JSON.parse(text) as { version: string }).version;
}

/** The whole command line. */
export function buildProgram(): Command {
  const program = new Command("stackadm")
    .description(
      "kubeadm Kubernetes on OpenStack: infrastructure, kubeadm and add-ons in one graph",
    )
    .version(version())
    .option(
      "-s, --stack <name>",
      "the stack: an environment with its own Pulumi.<name>.yaml",
      "dev",
    )
    .option("--json", "JSON lines for programs: events while it runs, a result at the end", false)
    .addHelpText("after", exitCodes);
  for (const register of [
    ...[registerDev, registerUp, registerPreview, registerDestroy, registerRefresh],
    ...[registerStatus, registerKubeconfig, registerOutputs, registerOrphans, registerDoctor],
    ...[registerUnlock, registerLab, registerToolchain, registerEnv, registerCheck, registerTest],
  ])
    register(program);
  // The options of the whole may also stand after the command: `stackadm up --stack prod`.
  for (const command of program.commands.flatMap((one) => [one, ...one.commands]))
    command.configureHelp({ showGlobalOptions: true });
  return program;
}

/** Runs the command line of this process. */
export async function main(args: readonly string[]): Promise<void> {
  // A reader that has seen enough (`| head`) stops no operation.
  process.stdout.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EPIPE") throw error;
  });
  const program = buildProgram();
  for (const command of [
    program,
    ...program.commands,
    ...program.commands.flatMap((one) => one.commands),
  ])
    command.exitOverride((error) => {
      // Commander ends help and version with 0 and everything else is usage.
      process.exit(error.exitCode === 0 ? 0 : 2);
    });
  try {
    await program.parseAsync(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    process.stderr.write(
      `error: ${error.message}\n${error.hint === undefined ? "" : `  ${error.hint}\n`}`,
    );
    process.exitCode = error.exitCode;
  }
}

if (require.main === module) void main(process.argv.slice(2));
