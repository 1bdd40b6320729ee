import type { Command, OptionValues } from "commander";
import { startWorkerEarly } from "../engine/start-worker.js";
import { runCliCommand, type CommandSession } from "../../base/terminal/session.js";

/**
 * Implementation of a command. Receives the session, all options and the arguments. Returns the
 * exit code; undefined means 0.
 */
type Work<Options> = (
  session: CommandSession,
  options: Options,
  ...words: string[]
) => Promise<number | undefined>;

/**
 * Declares a command. The module of the implementation is loaded only when the command runs. So
 * help and usage errors are fast.
 */
const command = <Options extends OptionValues>(
  parent: Command,
  name: string,
  description: string,
  load: () => Promise<Work<Options>>,
): Command =>
  parent
    .command(name)
    .description(description)
    .action(async (...given: unknown[]) => {
      const own = given.at(-1) as Command;
      await runCliCommand(own, async (session) => {
        const work = await load();
        return work(session, own.optsWithGlobals<Options>(), ...own.args);
      });
    });

/**
 * Returns a `load` that also starts the engine's process. The process starts while the command
 * loads its modules.
 */
const withEngine =
  <Options>(load: () => Promise<Work<Options>>): (() => Promise<Work<Options>>) =>
  () =>
    Promise.resolve(async (...given) => {
      const endUnused = startWorkerEarly();
      try {
        const work = await load();
        return await work(...given);
      } finally {
        endUnused();
      }
    });

/** Option that refreshes the state before the command. */
const refresh = ["--refresh", "read the real state of the cloud first", false] as const;

/**
 * Returns the option `--expect-no-changes`, with which a script checks whether the cluster matches
 * its settings.
 */
const expectNoChanges = (otherwise: string) =>
  ["--expect-no-changes", `end with exit code 6 ${otherwise}`, false] as const;

function declareChanges(program: Command): void {
  command(
    program,
    "up",
    "create or update the cluster of a stack, then verify that it works",
    withEngine(async () => (await import("./commands/up.js")).runUpCommand),
  )
    .option(...refresh)
    .option(...expectNoChanges("if anything would change, before anything is changed"))
    .option(
      "--force",
      "skip the checks in the cloud, except for names that other clusters use",
      false,
    );
  command(
    program,
    "preview",
    "show what `up` would do; changes nothing",
    withEngine(async () => (await import("./commands/preview.js")).runPreviewCommand),
  )
    .option(...refresh)
    .option(...expectNoChanges("if anything would change"));
  command(
    program,
    "destroy",
    "show what will be deleted, ask for confirmation, delete it, and check that nothing is left",
    withEngine(async () => (await import("./commands/destroy.js")).runDestroyCommand),
  )
    .option("--yes", "skip confirmation (required without a terminal or with --json)", false)
    .option(
      "--abandon",
      "for a cluster whose API is lost: skip the steps that need the API; keep volumes with data and floating IPs of Services",
      false,
    );
  command(
    program,
    "refresh",
    "read the real state of the resources into the stack's state; changes nothing in the cloud",
    withEngine(async () => (await import("./commands/refresh.js")).runRefreshCommand),
  ).option(...expectNoChanges("if anything differs from the former state"));
}

function declareReadCommands(program: Command): void {
  command(
    program,
    "status",
    "show the state of machines, nodes, etcd and samples; changes nothing",
    async () => (await import("./commands/status.js")).runStatusCommand,
  );
  command(
    program,
    "kubeconfig",
    "write the administrator's kubeconfig (mode 0600) and print its path",
    async () => (await import("./commands/kubeconfig.js")).runKubeconfigCommand,
  ).option("--print", "print the kubeconfig itself, which is a secret, instead of the path", false);
  command(
    program,
    "outputs",
    "print the stack's outputs as JSON",
    async () => (await import("./commands/outputs.js")).runOutputsCommand,
  ).option("--show-secrets", "print secret outputs in plain text", false);
}

function declareBackup(program: Command): void {
  command(
    program,
    "backup",
    "back up etcd, the keys and configuration of a control plane and the stack's state into a directory",
    async () => (await import("./commands/backup.js")).runBackupCommand,
  )
    .option(
      "--to <directory>",
      "directory of the backup, created by this command (default: backups/<stack>-<time>)",
    )
    .addHelpText(
      "after",
      "\nA backup gives full access to the cluster and to every Secret in it: store it where only you can read it, and not on the\n" +
        "cluster's own machines. It does not contain the data in volumes. It uses SSH, so it works without the cluster's API.",
    );
  command(
    program,
    "restore",
    "restore etcd from a backup on the existing machines; everything that was created in Kubernetes later is lost",
    async () => (await import("./commands/restore.js")).runRestoreCommand,
  )
    .requiredOption("--from <directory>", "directory that `backup` wrote")
    .option("--yes", "skip confirmation (required without a terminal or with --json)", false);
}

function declareMaintenanceCommands(program: Command): void {
  command(
    program,
    "orphans",
    "list, and delete on request, the objects in the project that a lost cluster left",
    async () => (await import("./commands/orphans.js")).runOrphansCommand,
  )
    .option("--cluster <name>", "the cluster's name (default: the stack's name)")
    .option(
      "--identity <id>",
      "the cluster's identity; two clusters may share a name, but never an identity",
    )
    .option(
      "--delete",
      "delete all objects of the cluster with this --identity; this destroys a running cluster",
      false,
    )
    .option(
      "--volumes",
      "with --delete: also delete volumes of its machines and claims, their copies and snapshots, with all data",
      false,
    )
    .option("--floating-ips", "with --delete: also delete the floating IPs of its Services", false)
    .option("--retained", "with --delete: also delete what a destroy kept for the program", false)
    .option(
      "--yes",
      "with --delete: skip confirmation for a cluster that may be running (required then without a terminal or with --json)",
      false,
    );
  command(
    program,
    "doctor",
    "check tools, settings, quotas and names before anything is created; changes nothing",
    async () => (await import("./commands/doctor.js")).runDoctorCommand,
  );
  command(
    program,
    "unlock",
    "show which process holds the stack's lock, and remove the lock after confirmation",
    async () => (await import("./commands/unlock.js")).runUnlockCommand,
  ).option("--yes", "skip confirmation (required without a terminal or with --json)", false);
}

function declareSetup(program: Command): void {
  command(
    program,
    "toolchain",
    "find or build the Pulumi CLI and its plugins; show which were chosen and why",
    async () => (await import("./commands/toolchain.js")).runToolchainCommand,
  );
  command(
    program,
    "env",
    'print the environment variables with which plain `pulumi` works: eval "$(stackadm env)"',
    async () => (await import("./commands/env.js")).runEnvCommand,
  ).addHelpText(
    "after",
    "\nThe login key comes from the running ssh-agent. If the agent has no key, the printed lines start an agent with\n" +
      "stackadm's own key for the shell; `ssh-agent -k` ends it.",
  );
}

/** Declares all commands, in the order in which the help lists them. */
export function declareCommands(program: Command): void {
  for (const declare of [
    declareChanges,
    declareReadCommands,
    declareBackup,
    declareMaintenanceCommands,
    declareSetup,
  ])
    declare(program);
}
