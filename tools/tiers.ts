import type { Session } from "../automation/cli/session.js";
import { ensureCommands } from "../base/host-packages.js";
import { UserError } from "../base/user-error.js";
import { evidenceVariable } from "./evidence/record.js";
import type { Order } from "./test-files.js";

/** Variables of an environment. */
export type Environment = Readonly<Record<string, string>>;

export interface Tier {
  readonly name: string;
  /** Seconds on two cores with warm caches. */
  readonly expected: number;
  /** How many files mocha runs at once: more than processors where many of them wait, only where no file minds another beside it. Default: 1. */
  readonly jobs?: number;
  /** Starts nothing and minds nobody: runs beside the other quick ones, so that no processor waits for the last file of one. */
  readonly quick?: true;
  /** Its files always run in the order of their paths. */
  readonly ordered?: true;
  /** Runs only where it is named: it takes longer than a change should wait. */
  readonly named?: true;
  /** Gets what the tier needs; returns variables for its environment. */
  readonly prepare?: (session: Session) => Promise<Environment>;
}

async function prepareToolchain({ progress, signal }: Session): Promise<Record<string, string>> {
  await ensureCommands({ ssh: "openssh-client", "ssh-keygen": "openssh-client" }, progress);
  const { ensureToolchain, standInsVariable } = await import("../toolchain/toolchain.js");
  const { environment } = await ensureToolchain({ progress, signal, standIns: true });
  // Tests have clouds of their own, under any name.
  return { ...environment, [standInsVariable]: "1" };
}

async function prepareLab(session: Session): Promise<Record<string, string>> {
  const environment = await prepareToolchain(session);
  const { labUp } = await import("../lab/lab.js");
  await labUp(session);
  return environment;
}

async function prepareEmulated(session: Session): Promise<Record<string, string>> {
  const environment = await prepareLab(session);
  const { labAdd } = await import("../lab/lab.js");
  await labAdd("emulated-machines", session);
  // Nothing else runs these tests, so each of their runs is evidence.
  return { ...environment, [evidenceVariable]: "1" };
}

/** A tier that only needs commands, and the Debian packages that they come from. */
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
    prepare: needs({ python3: "python3", "ssh-agent": "openssh-client" }),
  },
  { name: "graph", expected: 60, quick: true },
  {
    name: "scripts",
    expected: 60,
    jobs: 2,
    quick: true,
    prepare: needs({ gpg: "gnupg" }),
  },
  {
    name: "commands",
    expected: 60,
    jobs: 3,
    prepare: needs({
      python3: "python3",
      "ssh-agent": "openssh-client",
      "qemu-system-x86_64": "qemu-system-x86",
      "qemu-img": "qemu-utils",
      genisoimage: "genisoimage",
    }),
  },
  { name: "engine", expected: 300, prepare: prepareToolchain },
  { name: "examples", expected: 500, prepare: prepareLab },
  { name: "emulated", expected: 5400, named: true, prepare: prepareEmulated },
  // The last one: its last file deletes the lab.
  { name: "lab", expected: 2200, ordered: true, prepare: prepareLab },
];

/** The tiers that are named, or those that run by default. */
export function chosen(names: readonly string[]): readonly Tier[] {
  const unknown = names.filter((name) => !tiers.some((tier) => tier.name === name));
  if (unknown.length > 0)
    throw new UserError(
      `There is no tier ${unknown.map((name) => `'${name}'`).join(", ")}.`,
      `There are: ${tiers.map(({ name }) => name).join(", ")}.`,
    );
  return tiers.filter(({ name, named }) =>
    names.length === 0 ? named !== true : names.includes(name),
  );
}

/** Returns the order of a tier's files; a seed asks for a random one. */
export function orderOf({ jobs = 1, ordered }: Tier, seed?: number): Order {
  if (ordered) return "by path";
  if (seed !== undefined) return { seed };
  return jobs > 1 ? "largest first" : "by path";
}
