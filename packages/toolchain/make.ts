import { createHash } from "node:crypto";
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
} from "node:fs";
import { basename, join } from "node:path";
import { goBuildGcVariables, goBuildDwarfFlags } from "../../base/go-build.js";
import type { Progress } from "../../base/progress.js";
import { withStep } from "../../base/progress.js";
import { run, type RunCommandResult } from "../../base/run-command.js";
import { Failure } from "../../base/failures/failure.js";

export interface GoBuild {
  /** Name of the executable that is built. */
  readonly name: string;
  readonly version: string;
  /**
   * Directories whose files are copied into one directory and built there. They contain go.mod and
   * go.sum. They also contain the main package, unless `package` is in another module.
   */
  readonly sources: readonly string[];
  readonly package: string;
  readonly ldflags: string;
  /**
   * Compiler flags for some packages, in the form `pattern=flags`. These flags replace the usual
   * flags of the packages. Default: none.
   */
  readonly gcflags?: string;
  /**
   * Files of a required module that are copied next to the main package, because `go:embed` can
   * read only files in the directory of the package. Default: none.
   */
  readonly embedded?: { readonly module: string; readonly files: readonly string[] };
  /** Duration of the build in seconds, on 2 cores with an empty module cache. */
  readonly expectedSeconds: number;
}

export interface GoBuildOptions {
  readonly cache: string;
  readonly progress: Progress;
  readonly signal?: AbortSignal;
}

const filesOf = ({
  sources,
}: GoBuild): readonly { readonly name: string; readonly path: string }[] =>
  sources.flatMap((directory) =>
    readdirSync(directory, { withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map(({ name }) => ({ name, path: join(directory, name) }))
      .sort((one, other) => (one.name < other.name ? -1 : 1)),
  );

/**
 * Returns a hash of a build's sources and settings. Builds with the same hash produce the same
 * executable.
 */
function keyOf(build: GoBuild): string {
  const { package: main, ldflags, version, gcflags, embedded } = build;
  const optional = [gcflags, embedded].filter((one) => one !== undefined);
  const settings = [main, ldflags, version, ...optional.map((one) => JSON.stringify(one))];
  const hash = createHash("sha256").update(settings.join("\n"));
  for (const { name, path } of filesOf(build)) hash.update(name).update(readFileSync(path));
  return hash.digest("hex").slice(0, 12);
}

/**
 * Builds an executable from Go modules, or returns the executable from the cache. Builds in a
 * temporary directory, which is renamed when the build is complete. So an interrupted build never
 * counts as complete. Throws a Failure if Go is not installed.
 */
export async function makeWithGo(build: GoBuild, options: GoBuildOptions): Promise<string> {
  const directory = join(options.cache, `${build.name}-${build.version}-${keyOf(build)}`);
  const executable = join(directory, build.name);
  if (existsSync(executable)) return executable;
  const part = `${directory}.part`;
  // The module cache is separate from the user's module cache, and is deleted after the build.
  const modules = `${directory}.modules`;
  rmSync(part, { recursive: true, force: true });
  mkdirSync(join(part, "source"), { recursive: true });
  for (const { name, path } of filesOf(build)) copyFileSync(path, join(part, "source", name));
  await withStep(
    options.progress,
    `Build ${build.name} ${build.version}`,
    build.expectedSeconds,
    async (step) => {
      await requireGo(build);
      const go = goIn(join(part, "source"), modules, options.signal);
      await copyEmbedded(build, join(part, "source"), go);
      await go(buildArguments(build, join(part, build.name)), (line) => {
        step.update(line.replace(/^go: /, ""));
      });
    },
  );
  rmSync(join(part, "source"), { recursive: true });
  rmSync(modules, { recursive: true, force: true });
  rmSync(directory, { recursive: true, force: true });
  renameSync(part, directory);
  return executable;
}

type RunGo = (
  args: readonly string[],
  onLine?: (line: string) => void,
) => Promise<RunCommandResult>;

/**
 * Returns a function that runs `go` in a directory. `go` runs with low priority (`nice`), because
 * the lab's cloud may start at the same time and must answer in time.
 */
const goIn =
  (directory: string, modules: string, signal: AbortSignal | undefined): RunGo =>
  (args, onLine) =>
    run("nice", ["go", ...args], {
      cwd: directory,
      env: {
        ...process.env,
        ...goBuildGcVariables,
        CGO_ENABLED: "0",
        GOFLAGS: "-mod=readonly -modcacherw",
        GOMODCACHE: modules,
        GOWORK: "off",
      },
      onLine,
      signal,
    });

const buildArguments = ({ ldflags, gcflags, package: main }: GoBuild, output: string): string[] => [
  ...["build", "-trimpath", "-v", "-ldflags", ldflags, ...goBuildDwarfFlags],
  ...(gcflags === undefined ? [] : ["-gcflags", gcflags]),
  ...["-o", output, main],
];

async function copyEmbedded({ embedded }: GoBuild, source: string, go: RunGo): Promise<void> {
  if (!embedded) return;
  const { stdout } = await go(["mod", "download", "-json", embedded.module]);
  const { Dir: directory } = JSON.parse(stdout) as { readonly Dir: string };
  for (const file of embedded.files)
    copyFileSync(join(directory, file), join(source, basename(file)));
}

async function requireGo({ name, version }: GoBuild): Promise<void> {
  try {
    await run("go", ["version"]);
  } catch {
    throw new Failure(
      "FAILED",
      `${name} ${version} is not installed, and there is no Go to build it with.`,
      "Install Pulumi (https://www.pulumi.com/docs/install/) or Go 1.26, and run the same command again.",
    );
  }
}

/**
 * Returns the shell script of a stand-in. The script runs the compiled JavaScript with the Node
 * that runs this program.
 */
export function renderStandInScript(main: string): string {
  return `#!/bin/sh\nexec ${quote(process.execPath)} ${quote(main)} "$@"\n`;
}

/**
 * Returns a shell script that runs an executable from another directory. The script is put into a
 * directory of PATH.
 */
export function renderForwardScript(executable: string): string {
  return `#!/bin/sh\nexec ${quote(executable)} "$@"\n`;
}

function quote(word: string): string {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
