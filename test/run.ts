import { spawn } from "node:child_process";
import { existsSync, readdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { ensureCommands } from "../automation/setup/commands.js";
import { terminalScreen, type Screen } from "../automation/render/screen.js";
import { UserError } from "../automation/user-error.js";
import { followTests, type TestFailure, type TierResult } from "./support/follow-tests.js";

/*
 * `npm test [tiers] [--all]`: the tiers in order, each in a mocha of its own. What a tier needs is installed or
 * started first; when that fails, the tier fails with the name of what is missing. Nothing is skipped.
 */

const root = resolve(__dirname, "..");

interface Tier {
  readonly name: string;
  /** Seconds on two cores with warm caches. */
  readonly expected: number;
  readonly prepare?: (screen: Screen) => Promise<Readonly<Record<string, string>>>;
}

const shellTools = { shellcheck: "shellcheck", shfmt: "shfmt" };

async function prepareTools(screen: Screen): Promise<Record<string, string>> {
  await ensureCommands(shellTools, screen);
  return {};
}

async function prepareToolchain(screen: Screen): Promise<Record<string, string>> {
  await ensureCommands({ ssh: "openssh-client", "ssh-keygen": "openssh-client" }, screen);
  const { ensureToolchain } = await import("../toolchain/toolchain.js");
  const { environment } = await ensureToolchain({ progress: screen });
  return { ...environment };
}

async function prepareLab(screen: Screen): Promise<Record<string, string>> {
  const environment = await prepareToolchain(screen);
  const { labUp } = await import("../lab/lab.js");
  await labUp({ progress: screen });
  return environment;
}

const tiers: readonly Tier[] = [
  {
    name: "unit",
    expected: 180,
    prepare: async (screen) => {
      await ensureCommands({ python3: "python3", "ssh-agent": "openssh-client" }, screen);
      return {};
    },
  },
  { name: "graph", expected: 20 },
  { name: "scripts", expected: 15, prepare: prepareTools },
  { name: "engine", expected: 240, prepare: prepareToolchain },
  { name: "lab", expected: 900, prepare: prepareLab },
];

/** The test files of a tier, in the order of their paths. */
function testFiles(directory: string): string[] {
  if (!existsSync(directory)) return [];
  return readdirSync(directory, { withFileTypes: true, recursive: true })
    .filter((entry) => entry.isFile() && entry.name.endsWith(".test.ts"))
    .map((entry) => join(entry.parentPath, entry.name))
    .sort();
}

const present = tiers.filter(({ name }) => testFiles(join(root, "test", name)).length > 0);

function chosen(names: readonly string[]): readonly Tier[] {
  const unknown = names.filter((name) => !present.some((tier) => tier.name === name));
  if (unknown.length > 0)
    throw new UserError(
      `There is no tier ${unknown.map((name) => `'${name}'`).join(", ")}.`,
      `There are: ${present.map(({ name }) => name).join(", ")}.`,
    );
  return names.length === 0 ? present : present.filter(({ name }) => names.includes(name));
}

async function runTier(tier: Tier, screen: Screen, all: boolean): Promise<TierResult> {
  const step = screen.step(`Tests: ${tier.name}`, tier.expected);
  try {
    const environment = (await tier.prepare?.(screen)) ?? {};
    const files = testFiles(join(root, "test", tier.name));
    const mocha = join(root, "node_modules", "mocha", "bin", "mocha.js");
    const reporter = join(root, "test", "support", "line-reporter.ts");
    const child = spawn(
      process.execPath,
      ["--import", "tsx", mocha, "--exit", "--reporter", reporter, ...files],
      {
        cwd: root,
        env: {
          ...process.env,
          ...environment,
          // Colours and terminals change what programs print.
          NO_COLOR: "1",
          ...(all ? { STACKADM_TEST_ALL: "1" } : {}),
        },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    const result = await followTests(tier.name, child, (test) => {
      step.update(test);
    });
    const summary = `${result.passed} passed, ${result.failures.length} failed`;
    if (result.failures.length > 0) step.failed(summary);
    else step.done(summary);
    return result;
  } catch (error) {
    step.failed();
    // What a tier needs and cannot get is a failure of that tier, by name.
    const message = error instanceof Error ? error.message : String(error);
    const hint = error instanceof UserError ? (error.hint ?? "") : "";
    return {
      passed: 0,
      failures: [{ title: `${tier.name}: what the tier needs`, message: `${message}\n${hint}` }],
    };
  }
}

function show(failures: readonly TestFailure[], screen: Screen): void {
  for (const { title, message } of failures)
    screen.note(`\nx ${title}\n${message.trim().replaceAll(/^/gm, "    ")}`);
}

async function main(args: readonly string[]): Promise<number> {
  const screen = terminalScreen();
  const results: TierResult[] = [];
  try {
    const names = args.filter((argument) => !argument.startsWith("--"));
    for (const tier of chosen(names))
      results.push(await runTier(tier, screen, args.includes("--all")));
  } catch (error) {
    if (!(error instanceof UserError)) throw error;
    screen.note(`error: ${error.message} ${error.hint ?? ""}`);
    results.push({ passed: 0, failures: [{ title: "tiers", message: error.message }] });
  }
  const failures = results.flatMap((result) => result.failures);
  show(failures, screen);
  screen.close();
  const passed = results.reduce((sum, result) => sum + result.passed, 0);
  process.stdout.write(`${passed} passed, ${failures.length} failed\n`);
  return failures.length === 0 && passed > 0 ? 0 : 1;
}

void main(process.argv.slice(2)).then((code) => {
  process.exit(code);
});
