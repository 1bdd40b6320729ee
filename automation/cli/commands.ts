import type { Command, OptionValues } from "commander";
import { beginEarly } from "../cluster/worker-process.js";
import { runCommand, type Session } from "./session.js";

/**
 * Implementation of a command: gets its own and the global options and its arguments; returns the
 * exit code.
 */
type Work<Options> = (
  session: Session,
  options: Options,
  ...words: string[]
) => Promise<number | undefined>;

/**
 * Declares a command whose implementation is loaded when it runs: help and usage errors do not wait
 * for it.
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
      await runCommand(own, async (session) => {
        const work = await load();
        return work(session, own.optsWithGlobals<Options>(), ...own.args);
      });
    });

/** Wraps `load`: starts the engine's process early, while the command loads its own modules. */
const withEngine =
  <Options>(load: () => Promise<Work<Options>>): (() => Promise<Work<Options>>) =>
  () =>
    Promise.resolve(async (...given) => {
      const endUnused = beginEarly();
      try {
        const work = await load();
        return await work(...given);
      } finally {
        endUnused();
      }
    });

/** Option that reads the real objects first. */
const refresh = ["--refresh", "read the real state of the cloud first", false] as const;

/** Option for scripts that check whether the cluster matches its settings. */
const expectNoChanges = (otherwise: string) =>
  ["--expect-no-changes", `end with exit code 6 ${otherwise}`, false] as const;

function declareChanges(program: Command): void {
  command(
    program,
    "dev",
    "everything: toolchain, the lab if no cloud is configured, the cluster, its proof",
    async () => (await import("./dev.js")).dev,
  ).addHelpText(
    "after",
    "\nA cloud is configured when OS_CLOUD or OS_AUTH_URL is set. Without one the lab is started: a whole\n" +
      "OpenStack on this machine. The stacks of a lab are kept inside it, so a new lab begins with none.",
  );
  command(
    program,
    "up",
    "make or change the cluster of a stack, and look whether it works",
    withEngine(async () => (await import("./up.js")).up),
  )
    .option(...refresh)
    .option(...expectNoChanges("where anything would change, before it is changed"))
    .option("--force", "skip the questions to the cloud, but for names of somebody else's", false);
  command(
    program,
    "preview",
    "show what `up` would do; changes nothing",
    withEngine(async () => (await import("./preview.js")).preview),
  )
    .option(...refresh)
    .option(...expectNoChanges("where anything would change"));
  command(
    program,
    "destroy",
    "show what the stack's state holds, take it away when that is meant, and check that nothing is left",
    withEngine(async () => (await import("./destroy.js")).destroy),
  )
    .option("--yes", "do not ask: it is meant; needed without a terminal and with --json", false)
    .option(
      "--abandon",
      "for a cluster whose API is gone for good: skip what needs it; volumes with data and floating IPs of Services stay",
      false,
    );
  command(
    program,
    "refresh",
    "read what is really there into the stack's state; changes nothing in the cloud",
    withEngine(async () => (await import("./refresh.js")).refresh),
  ).option(...expectNoChanges("where anything differs from what the state said"));
}

function declareLooks(program: Command): void {
  command(
    program,
    "status",
    "machines, nodes, etcd and samples as they are now; changes nothing",
    async () => (await import("./status.js")).status,
  );
  command(
    program,
    "kubeconfig",
    "write the administrator's kubeconfig (mode 0600) and print its path",
    async () => (await import("./kubeconfig.js")).kubeconfig,
  ).option("--print", "print the kubeconfig itself instead; it is a secret", false);
  command(
    program,
    "outputs",
    "print the stack's outputs as JSON",
    async () => (await import("./outputs.js")).outputs,
  ).option("--show-secrets", "with the secret ones in clear", false);
}

function declareBackup(program: Command): void {
  command(
    program,
    "backup",
    "copy what brings the cluster back into a directory: etcd's data, a control plane's files, the stack's state",
    async () => (await import("./backup.js")).backup,
  )
    .option("--to <directory>", "what becomes the backup (default: backups/<stack>-<time>)")
    .addHelpText(
      "after",
      "\nWhoever has a backup has the cluster, and every Secret in it: keep it where nobody else reads it, and not on the cluster's\n" +
        "own machines. What is in volumes is not in it. It is over SSH, so it works without the cluster's API, too.",
    );
  command(
    program,
    "restore",
    "bring etcd back to a backup, on the machines that are there; what came into Kubernetes after it is lost",
    async () => (await import("./restore.js")).restore,
  )
    .requiredOption("--from <directory>", "what `backup` made")
    .option("--yes", "do not ask: it is meant; needed without a terminal and with --json", false);
}

function declareCare(program: Command): void {
  command(
    program,
    "orphans",
    "list what carries a cluster's marks in the project: for clusters that are dead",
    async () => (await import("./orphans.js")).orphans,
  )
    .option("--cluster <name>", "the cluster's name (default: the stack's name)")
    .option("--identity <id>", "the cluster's identity, which alone says whose an object is")
    .option("--delete", "delete what has --identity; a living cluster does not survive that", false)
    .option(
      "--volumes",
      "with --delete: also its machines' volumes, those of its claims, copies and snapshots of them, with their data",
      false,
    )
    .option("--floating-ips", "with --delete: also the addresses of its Services", false)
    .option(
      "--yes",
      "with --delete: do not ask about a cluster that may live; needed then without a terminal and with --json",
      false,
    );
  command(
    program,
    "doctor",
    "check tools, configuration and cloud before anything is made; changes nothing",
    async () => (await import("./doctor.js")).doctor,
  );
  command(
    program,
    "unlock",
    "show who holds the stack, and remove the lock when that is meant",
    async () => (await import("./unlock.js")).unlock,
  ).option("--yes", "do not ask: it is meant; needed without a terminal and with --json", false);
}

function declareLab(program: Command): void {
  const lab = program.command("lab").description("OpenStack's services on this machine");
  command(
    lab,
    "up",
    "start it; does nothing when it runs",
    async () => (await import("./lab.js")).up,
  ).option("--kubernetes <version>", "Kubernetes version that its repositories offer");
  command(
    lab,
    "status",
    "say how it is; exit code 1 when it is not up",
    async () => (await import("./lab.js")).status,
  );
  command(
    lab,
    "add <what>",
    "build what few clusters need: calico (Canal too), keystone-auth, metrics-server, snapshots, traefik for its registry; emulated-machines (images of virtual machines)",
    async () => (await import("./lab.js")).add,
  );
  command(
    lab,
    "down",
    "destroy it with everything in it; caches stay",
    async () => (await import("./lab.js")).down,
  );
}

function declareSetup(program: Command): void {
  command(
    program,
    "toolchain",
    "find or make the Pulumi CLI and its plugins; show what was taken and why",
    async () => (await import("./toolchain.js")).toolchain,
  );
  command(
    program,
    "env",
    'print the variables under which plain `pulumi` works: eval "$(npx stackadm env)"',
    async () => (await import("./env.js")).env,
  ).addHelpText(
    "after",
    "\nThe login key is the running ssh-agent's. When that has none, the lines start an agent for the shell, with a key\n" +
      "of its own; `ssh-agent -k` ends it.",
  );
}

/** Declares every command, in the order of the help. */
export function declareCommands(program: Command): void {
  for (const declare of [
    ...[declareChanges, declareLooks, declareBackup, declareCare],
    ...[declareLab, declareSetup],
  ])
    declare(program);
}
