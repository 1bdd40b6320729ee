import { spawn, type ChildProcess } from "node:child_process";
import { accessSync, constants, statfsSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { runCommand, type Session } from "../automation/cli/session.js";
import { ensureCommands } from "../base/host-packages.js";
import { Failure } from "../base/failure.js";
import { UserError } from "../base/user-error.js";
import { duration } from "../automation/render/screen.js";
import { table } from "../automation/render/table.js";
import { evidenceVariable } from "./evidence/record.js";
import { followTests, type Evidence, type TestFailure, type TierResult } from "./follow-tests.js";
import { testFiles } from "./test-files.js";

/*
 * `npm test [tiers] [--all]`: the tiers in order, each in a mocha of its own, the quick ones beside each other. What a tier needs is installed or started first; when that fails, the tier fails with the name of what is missing. Nothing is skipped.
 */

type Environment = Readonly<Record<string, string>>;

interface Tier {
  readonly name: string;
  /** Seconds on two cores with warm caches. */
  readonly expected: number;
  /** How many files mocha runs at once: more than processors where many of them wait, only where no file minds another beside it. Default: 1. */
  readonly jobs?: number;
  /** Starts nothing and minds nobody: runs beside the other quick ones, so that no processor waits for the last file of one. */
  readonly quick?: true;
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
  // The last one: its last file takes the lab down.
  { name: "lab", expected: 2200, prepare: prepareLab },
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

/** Ctrl-C ends the tests; the second time at once. */
function stopWith({ signal, killSignal }: Session, child: ChildProcess): void {
  signal.addEventListener("abort", () => child.kill("SIGINT"), { once: true });
  killSignal.addEventListener("abort", () => child.kill("SIGKILL"), { once: true });
}

export interface TestRun {
  /** The repository. */
  readonly root: string;
  /** Every example, and what resembles the default set of the lab tier, too. */
  readonly all: boolean;
  readonly session: Session;
}

/** Containers often have 64 MB in memory, which is not enough. */
const spacious = 2 ** 30;

/**
 * Where the small files of quick tests are: in memory where the machine has such a place, unless somebody chose another. Thousands are
 * made and deleted, and ext4 looks long for an inode that was not deleted just now.
 */
function inMemory(): Environment {
  const place = "/dev/shm";
  if (process.env["TMPDIR"] !== undefined) return {};
  try {
    accessSync(place, constants.R_OK | constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(place);
    return bavail * bsize < spacious ? {} : { TMPDIR: place };
  } catch {
    return {};
  }
}

/** Runs the test files of a tier. */
function runFiles(
  { name, jobs = 1, quick }: Tier,
  { root, all, session }: TestRun,
  environment: Environment,
): ChildProcess {
  const mocha = join(root, "node_modules", "mocha", "bin", "mocha.js");
  const reporter = join(__dirname, "line-reporter.ts");
  const files = testFiles(name, { root, all, largestFirst: jobs > 1 });
  const how = jobs > 1 ? ["--parallel", "--jobs", String(jobs)] : [];
  const child = spawn(
    process.execPath,
    [mocha, "--exit", ...how, "--reporter", reporter, ...files],
    {
      cwd: root,
      env: {
        ...process.env,
        ...environment,
        ...(quick && inMemory()),
        // Colours and terminals change what programs print.
        NO_COLOR: "1",
        ...(all ? { STACKADM_TEST_ALL: "1" } : {}),
      },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  stopWith(session, child);
  return child;
}

const summary = ({ passed, failures }: TierResult): string =>
  `${passed} passed, ${failures.length} failed`;

async function runTier(
  tier: Tier,
  run: TestRun,
  prepared: Promise<Environment>,
): Promise<TierResult> {
  const { session } = run;
  const step = session.progress.step(`Tests: ${tier.name}`, tier.expected);
  try {
    const environment = await prepared;
    session.signal.throwIfAborted();
    const child = runFiles(tier, run, environment);
    const result = await followTests(tier.name, child, (test) => {
      step.update(test);
    });
    if (result.failures.length > 0) step.failed(summary(result));
    else step.done(summary(result));
    // Files that run beside each other tell their results when they are over, and their times mean nothing.
    if (result.times && (tier.jobs ?? 1) === 1 && !tier.quick)
      session.progress.note(longest(result));
    return result;
  } catch (error) {
    step.failed();
    // What a tier needs and cannot get is a failure of that tier, by name.
    const message = error instanceof Error ? error.message : String(error);
    const hint = error instanceof Failure ? error.hint : "";
    return {
      passed: 0,
      failures: [{ title: `${tier.name}: what the tier needs`, message: `${message}\n${hint}` }],
    };
  }
}

/** Where the time of a tier went. */
const longest = ({ times = [] }: TierResult): string =>
  [...times]
    .sort((one, other) => other.milliseconds - one.milliseconds)
    .slice(0, 12)
    .map(({ file, milliseconds }) => `${file.replace(".test.ts", "")} ${duration(milliseconds)}`)
    .join(", ");

/** What was seen of the examples, a line per point. */
const evidenceTable = (evidence: readonly Evidence[]): string =>
  table(
    ["EXAMPLE", "POINT", "SEEN"],
    evidence.map(({ example, point, seen }) => [example, point, seen]),
  );

function show(failures: readonly TestFailure[], { progress }: Session): void {
  for (const { title, message } of failures)
    progress.note(`\nx ${title}\n${message.trim().replaceAll(/^/gm, "    ")}`);
}

/** What runs at the same time: neighbours that are quick, and every other tier by itself. */
function rounds(wanted: readonly Tier[]): Tier[][] {
  const found: Tier[][] = [];
  for (const tier of wanted) {
    const last = found.at(-1);
    if (tier.quick && last?.[0]?.quick) last.push(tier);
    else found.push([tier]);
  }
  return found;
}

/** Runs tiers beside each other. What they need comes one after the other: two apt-get are in each other's way. */
function runRound(round: readonly Tier[], run: TestRun): Promise<TierResult[]> {
  let before: Promise<unknown> = Promise.resolve();
  const running = round.map((tier) => {
    const prepared = before.then(() => tier.prepare?.(run.session) ?? {});
    before = prepared.catch(() => undefined);
    return runTier(tier, run, prepared);
  });
  return Promise.all(running);
}

/** Runs the tiers that are named, or all; returns the exit code. */
export async function runTests(names: readonly string[], run: TestRun): Promise<number> {
  const { session } = run;
  const results: TierResult[] = [];
  try {
    for (const round of rounds(chosen(names))) {
      if (session.signal.aborted) break;
      results.push(...(await runRound(round, run)));
    }
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    session.progress.note(`error: ${error.message} ${error.hint}`);
    results.push({ passed: 0, failures: [{ title: "tiers", message: error.message }] });
  }
  const result: TierResult = {
    passed: results.reduce((sum, { passed }) => sum + passed, 0),
    failures: results.flatMap(({ failures }) => failures),
  };
  const evidence = results.flatMap(({ evidence: seen = [] }) => seen);
  if (evidence.length > 0) session.print(`\n${evidenceTable(evidence)}\n`);
  show(result.failures, session);
  session.print(summary(result));
  if (session.signal.aborted) return 130;
  return result.failures.length === 0 && result.passed > 0 ? 0 : 1;
}

export function registerTest(program: Command, root: string): void {
  program
    .command("test")
    .description("run the tests: all tiers but `emulated`, or those named")
    .argument("[tiers...]", tiers.map(({ name }) => name).join(", "))
    .option(
      "--all",
      "every example, not only the one that was changed; in the lab tier what is in `all/` and all that is `in-turn/`, too",
      false,
    )
    .action((names: string[], { all }: { all: boolean }, command: Command) =>
      runCommand(command, (session) => runTests(names, { root, all, session })),
    );
}
