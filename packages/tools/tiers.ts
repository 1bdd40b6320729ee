import { join } from "node:path";
import type { CommandSession } from "../../base/terminal/session.js";
import { ensureCommands } from "../../base/host-packages.js";
import { getPackageRoot } from "../../base/paths.js";
import { withStep } from "../../base/progress.js";
import { run } from "../../base/run-command.js";
import { runTogether } from "../../base/run-together.js";
import { Failure } from "../../base/failures/failure.js";
import { evidenceVariable } from "./evidence/record.js";
import type { TestFileOrder } from "./test-files.js";

export type EnvironmentVariables = Readonly<Record<string, string>>;

export interface Tier {
  readonly name: string;
  /** Usual duration in seconds, on two cores with warm caches. */
  readonly expected: number;
  /**
   * Number of files that mocha runs at once. It is more than 1 only if the files do not disturb
   * each other. Default: 1.
   */
  readonly jobs?: number;
  /**
   * Whether the tier starts no services, so that it can run concurrently with other quick tiers.
   */
  readonly quick?: true;
  /** Whether the files always run in the order of their paths, even with `--shuffle`. */
  readonly ordered?: true;
  /**
   * Whether `npm test` runs the tier by default. Only tiers that need no root, no lab and no Go
   * build run by default.
   */
  readonly byDefault?: true;
  /** Prepares the tier's requirements. Returns environment variables for the tests. */
  readonly prepare?: (session: CommandSession) => Promise<EnvironmentVariables>;
}

const sshCommands = { ssh: "openssh-client", "ssh-keygen": "openssh-client" };

type Work = Pick<CommandSession, "progress" | "signal">;

async function toolchain({ progress, signal }: Work): Promise<EnvironmentVariables> {
  const { ensureToolchain, allowStandInsVariable } =
    await import("../../automation/toolchain/toolchain.js");
  const { environment } = await ensureToolchain({ progress, signal, standIns: true });
  // Allows stand-ins for all clouds, because tests use clouds with any name.
  return { ...environment, [allowStandInsVariable]: "1" };
}

async function prepareToolchain(session: CommandSession): Promise<EnvironmentVariables> {
  await ensureCommands(sshCommands, session.progress);
  return toolchain(session);
}

async function prepareLab({ progress, signal }: CommandSession): Promise<EnvironmentVariables> {
  await ensureCommands(sshCommands, progress);
  const { labUp } = await import("../lab/lab.js");
  const [environment] = await runTogether(
    (stop) => toolchain({ progress, signal: stop }),
    (stop) => labUp({ progress, signal: stop }),
    signal,
  );
  return environment;
}

async function prepareEmulated(session: CommandSession): Promise<EnvironmentVariables> {
  const environment = await prepareLab(session);
  const { labAdd } = await import("../lab/lab.js");
  await labAdd("emulated-machines", session);
  // No other command runs these tests, so each run writes evidence.
  return { ...environment, [evidenceVariable]: "1" };
}

/** Builds the site of the documentation. Fails if a link or an anchor is dead. */
async function prepareSite({ progress, signal }: CommandSession): Promise<EnvironmentVariables> {
  const program = join(getPackageRoot(), "packages", "site", "site.ts");
  await withStep(progress, "Build the site", 60, () =>
    run(process.execPath, ["--import", "tsx", program], { signal }),
  );
  return {};
}

/**
 * Returns the `prepare` function of a tier that needs only commands. `commands` maps a command to
 * its Debian package.
 */
const needs =
  (commands: Readonly<Record<string, string>>): Tier["prepare"] =>
  async ({ progress }) => {
    await ensureCommands(commands, progress);
    return {};
  };

export const tiers: readonly Tier[] = [
  {
    name: "unit",
    expected: 60,
    jobs: 2,
    quick: true,
    byDefault: true,
    prepare: needs({ python3: "python3", "ssh-agent": "openssh-client" }),
  },
  { name: "graph", expected: 60, quick: true, byDefault: true },
  {
    name: "scripts",
    expected: 60,
    jobs: 2,
    quick: true,
    byDefault: true,
    prepare: needs({ gpg: "gnupg", shellcheck: "shellcheck" }),
  },
  {
    name: "commands",
    expected: 60,
    jobs: 3,
    byDefault: true,
    prepare: needs({
      python3: "python3",
      "ssh-agent": "openssh-client",
      "qemu-system-x86_64": "qemu-system-x86",
      "qemu-img": "qemu-utils",
      genisoimage: "genisoimage",
      sfdisk: "fdisk",
    }),
  },
  { name: "site", expected: 10, prepare: prepareSite },
  { name: "engine", expected: 700, jobs: 2, prepare: prepareToolchain },
  { name: "examples", expected: 500, prepare: prepareLab },
  { name: "emulated", expected: 5400, prepare: prepareEmulated },
  // This tier must be the last, because its last file stops the lab.
  { name: "lab", expected: 2200, ordered: true, prepare: prepareLab },
];

/** Returns the named tiers. Without names, returns the tiers that run by default. */
export function selectTiers(names: readonly string[]): readonly Tier[] {
  const unknown = names.filter((name) => !tiers.some((tier) => tier.name === name));
  if (unknown.length > 0)
    throw new Failure(
      "FAILED",
      `There is no tier ${unknown.map((name) => `'${name}'`).join(", ")}.`,
      `There are: ${tiers.map(({ name }) => name).join(", ")}.`,
    );
  return tiers.filter(({ name, byDefault }) =>
    names.length === 0 ? byDefault === true : names.includes(name),
  );
}

/** Returns the order of a tier's files. With a seed, the order is random. */
export function getTestFileOrder({ jobs = 1, ordered }: Tier, seed?: number): TestFileOrder {
  if (ordered) return "by path";
  if (seed !== undefined) return { seed };
  return jobs > 1 ? "largest first" : "by path";
}
