import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import type { Command } from "commander";
import { run } from "../../base/run-command.js";
import { ensureCommands } from "../../base/host-packages.js";
import { Failure } from "../../base/failures/failure.js";
import { runCliCommand, type CommandSession } from "../../base/terminal/session.js";

interface Check {
  readonly name: string;
  readonly expected: number;
  readonly command: readonly [string, ...string[]];
}

const ignored = new Set(["node_modules", "dist", ".git", "fixtures"]);

/** Returns the files below `directory` whose names end with `ending`. */
export function listFilesWithSuffix(directory: string, ending: string): string[] {
  return readdirSync(directory, { withFileTypes: true }).flatMap((entry) => {
    if (ignored.has(entry.name)) return [];
    const path = join(directory, entry.name);
    if (entry.isDirectory()) return listFilesWithSuffix(path, ending);
    return entry.name.endsWith(ending) ? [path] : [];
  });
}

const bin = (root: string, name: string): string => join(root, "node_modules", ".bin", name);

/** Returns the checks of `npm run check`, the slowest check first. */
export function listChecks(root: string): Check[] {
  const shell = [...listFilesWithSuffix(root, ".sh"), join(root, ".ci", "run")].filter((f) =>
    existsSync(f),
  );
  const cache = join(root, "node_modules", ".cache", "eslint");
  const drivers = join(root, "packages", "lab", "drivers");
  const docs = join(root, "packages", "tools", "documentation", "generate.ts");
  return [
    {
      name: "lint (eslint)",
      expected: 60,
      command: [
        bin(root, "eslint"),
        "--cache",
        "--cache-location",
        cache,
        "--max-warnings",
        "0",
        ".",
      ],
    },
    { name: "types (tsc)", expected: 15, command: [bin(root, "tsc"), "-p", root] },
    {
      name: "format (prettier)",
      expected: 10,
      command: [bin(root, "prettier"), "--check", "--log-level", "warn", "."],
    },
    { name: "scripts (shellcheck)", expected: 5, command: ["shellcheck", "-x", ...shell] },
    {
      name: "script format (shfmt)",
      expected: 2,
      command: ["shfmt", "-i", "2", "-ci", "-d", ...shell],
    },
    ...(existsSync(drivers)
      ? [
          {
            name: "drivers (flake8)",
            expected: 5,
            command: ["flake8", "--config", join(drivers, ".flake8"), drivers] as const,
          },
        ]
      : []),
    ...(existsSync(docs)
      ? [
          {
            name: "generated documentation is fresh",
            expected: 15,
            command: [process.execPath, "--import", "tsx", docs, "--check"] as const,
          },
        ]
      : []),
  ].map((check) => ({ ...check, command: [...check.command] as [string, ...string[]] }));
}

interface FailedCheck {
  readonly name: string;
  readonly output: string;
}

async function perform(
  root: string,
  { name, expected, command }: Check,
  { progress, signal }: CommandSession,
): Promise<FailedCheck | undefined> {
  const step = progress.step(name, expected);
  const lines: string[] = [];
  const [file, ...args] = command;
  try {
    await run(file, args, {
      cwd: root,
      signal,
      onLine: (line) => {
        lines.push(line);
        step.update(line.slice(0, 80));
      },
    });
    step.done();
    return undefined;
  } catch (error) {
    step.failed();
    const said = lines.length > 0 ? lines.join("\n") : String(error);
    return { name, output: said };
  }
}

/** Runs all checks, at most two at a time, because the reference machine has two cores. */
async function performAll(root: string, session: CommandSession): Promise<FailedCheck[]> {
  const waiting = listChecks(root);
  const failures: FailedCheck[] = [];
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      const failure = await perform(root, next, session);
      session.signal.throwIfAborted();
      if (failure) failures.push(failure);
    }
  };
  await Promise.all([work(), work()]);
  return failures;
}

/** Runs every check. Throws if a check fails. */
export async function runChecks(root: string, session: CommandSession): Promise<number> {
  const tools = { shellcheck: "shellcheck", shfmt: "shfmt", flake8: "flake8" };
  await ensureCommands(tools, session.progress);
  const failures = await performAll(root, session);
  for (const { name, output } of failures) session.progress.note(`\n--- ${name}\n${output}`);
  session.emit({ type: "result", ok: failures.length === 0, failures });
  if (failures.length > 0)
    throw new Failure("FAILED", `Failed: ${failures.map(({ name }) => name).join(", ")}.`);
  session.print("Everything is in order.");
  return 0;
}

export function registerCheckCommand(program: Command, root: string): void {
  program
    .command("check")
    .description("format, types, lint, scripts, drivers, generated documentation")
    .option("--json", "JSON lines for programs: progress, the failures at the end", false)
    .action((_options, command: Command) =>
      runCliCommand(command, (session) => runChecks(root, session)),
    );
}
