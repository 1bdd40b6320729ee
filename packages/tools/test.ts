import { spawn, type ChildProcess } from "node:child_process";
import { randomInt } from "node:crypto";
import { accessSync, constants, statfsSync } from "node:fs";
import { join } from "node:path";
import { InvalidArgumentError, type Command } from "commander";
import { runCliCommand, type CommandSession } from "../../base/terminal/session.js";
import { Failure } from "../../base/failures/failure.js";
import { formatDuration } from "../../base/terminal/progress-screen.js";
import { formatTable } from "../../base/terminal/table.js";
import {
  readTestResults,
  type ExampleEvidence,
  type TestFailure,
  type TierResult,
} from "./read-test-results.js";
import { listTestFiles } from "./test-files.js";
import {
  selectTiers,
  getTestFileOrder,
  tiers,
  type EnvironmentVariables,
  type Tier,
} from "./tiers.js";

/*
 * `npm test [tiers] [--all] [--shuffle [seed]]` runs the tiers in order. Each tier has a separate
 * mocha process, and quick tiers run concurrently. The command first installs or starts the
 * requirements of a tier. If this fails, the tier fails, and the error names the missing
 * requirement. No test is skipped.
 */

/** Stops the tests on Ctrl-C. A second Ctrl-C kills the test process. */
function stopWith({ signal, killSignal }: CommandSession, child: ChildProcess): void {
  signal.addEventListener("abort", () => child.kill("SIGINT"), { once: true });
  killSignal.addEventListener("abort", () => child.kill("SIGKILL"), { once: true });
}

export interface RunTestsOptions {
  /** Directory of the repository. */
  readonly root: string;
  /** Whether to run every example, and the files that run only with `--all`. */
  readonly all: boolean;
  /** Seed for a random order of each tier's files. @default the usual order */
  readonly seed?: number;
  readonly session: CommandSession;
}

/** Number of bytes that must be free in /dev/shm. In containers, /dev/shm often has only 64 MB. */
const spacious = 2 ** 30;

/**
 * Returns a TMPDIR in memory for quick tests, if there is enough space and the user has not set
 * TMPDIR. Quick tests create and delete thousands of files, which is slow on ext4.
 */
function inMemory(): EnvironmentVariables {
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

function runFiles(
  tier: Tier,
  { root, all, seed, session }: RunTestsOptions,
  environment: EnvironmentVariables,
): ChildProcess {
  const { name, jobs = 1, quick } = tier;
  const mocha = join(root, "node_modules", "mocha", "bin", "mocha.js");
  const reporter = join(__dirname, "json-lines-reporter.ts");
  const files = listTestFiles(name, { root, all, order: getTestFileOrder(tier, seed) });
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
        // Without NO_COLOR, programs print different text with colours or on a terminal.
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
  run: RunTestsOptions,
  prepared: Promise<EnvironmentVariables>,
): Promise<TierResult> {
  const { session } = run;
  const step = session.progress.step(`Tests: ${tier.name}`, tier.expected);
  try {
    const environment = await prepared;
    session.signal.throwIfAborted();
    const child = runFiles(tier, run, environment);
    const result = await readTestResults(tier.name, child, (test) => {
      step.update(test);
    });
    if (result.failures.length > 0) step.failed(summary(result));
    else step.done(summary(result));
    // If files run concurrently, they report their results late, so their durations are
    // meaningless.
    if (result.times && (tier.jobs ?? 1) === 1 && !tier.quick)
      session.progress.note(longest(result));
    return result;
  } catch (error) {
    step.failed();
    // A missing requirement makes the tier fail, with the name of the requirement.
    const message = error instanceof Error ? error.message : String(error);
    const hint = error instanceof Failure ? error.hint : "";
    return {
      passed: 0,
      failures: [{ title: `${tier.name}: what the tier needs`, message: `${message}\n${hint}` }],
    };
  }
}

/** Lists the slowest files of a tier. */
const longest = ({ times = [] }: TierResult): string =>
  [...times]
    .sort((one, other) => other.milliseconds - one.milliseconds)
    .slice(0, 12)
    .map(
      ({ file, milliseconds }) => `${file.replace(".test.ts", "")} ${formatDuration(milliseconds)}`,
    )
    .join(", ");

/** Returns the table of the examples' evidence, with a row for each point. */
const evidenceTable = (evidence: readonly ExampleEvidence[]): string =>
  formatTable(
    ["EXAMPLE", "POINT", "SEEN"],
    evidence.map(({ example, point, seen }) => [example, point, seen]),
  );

function show(failures: readonly TestFailure[], { progress }: CommandSession): void {
  for (const { title, message } of failures)
    progress.note(`\nx ${title}\n${message.trim().replaceAll(/^/gm, "    ")}`);
}

/**
 * Groups the tiers into rounds. Quick tiers that follow one another run concurrently. Every other
 * tier runs alone.
 */
function rounds(wanted: readonly Tier[]): Tier[][] {
  const found: Tier[][] = [];
  for (const tier of wanted) {
    const last = found.at(-1);
    if (tier.quick && last?.[0]?.quick) last.push(tier);
    else found.push([tier]);
  }
  return found;
}

/**
 * Runs tiers concurrently. Prepares the tiers one after another, because two apt-get processes
 * would block each other.
 */
function runRound(round: readonly Tier[], run: RunTestsOptions): Promise<TierResult[]> {
  let before: Promise<unknown> = Promise.resolve();
  const running = round.map((tier) => {
    const prepared = before.then(() => tier.prepare?.(run.session) ?? {});
    before = prepared.catch(() => undefined);
    return runTier(tier, run, prepared);
  });
  return Promise.all(running);
}

/** Runs the named tiers, or the default tiers. Returns the exit code. */
export async function runTests(names: readonly string[], run: RunTestsOptions): Promise<number> {
  const { session, seed } = run;
  const results: TierResult[] = [];
  if (seed !== undefined) session.progress.note(`Order of the files: --shuffle ${seed}`);
  try {
    for (const round of rounds(selectTiers(names))) {
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

interface Asked {
  readonly all: boolean;
  /** Seed of the random order. `true` means a random seed. */
  readonly shuffle?: number | true;
}

function readSeed(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new InvalidArgumentError(
    "Write a number of at most nine digits, and tiers before the option.",
  );
}

export function registerTestCommand(program: Command, root: string): void {
  program
    .command("test")
    .description("run the tests: unit, graph, scripts and commands, or the named tiers")
    .argument("[tiers...]", tiers.map(({ name }) => name).join(", "))
    .option(
      "--all",
      "every example, not only the one that was changed; in the lab tier what is in `all/` and all that is `in-turn/`, too",
      false,
    )
    .option(
      "--shuffle [seed]",
      "run the files of each tier but `lab` in random order; the printed seed gives the same order again",
      readSeed,
    )
    .action((names: string[], { all, shuffle }: Asked, command: Command) => {
      const seed = shuffle === true ? randomInt(1_000_000) : shuffle;
      return runCliCommand(command, (session) => runTests(names, { root, all, seed, session }));
    });
}
