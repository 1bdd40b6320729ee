import { accessSync, constants, existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { z } from "zod";
import { replaceFile } from "../../base/atomic-files.js";
import { run } from "../../base/run-command.js";
import { isAcceptableVersion } from "../../base/versions/pulumi-versions.js";

export interface FoundProgram {
  readonly version: string;
  readonly path: string;
}

/** Directories in which to search; `searchPlaces` reads them from the environment. */
export interface SearchPlaces {
  /** Directories of PATH, except the toolchain's own cache. */
  readonly path: readonly string[];
  /** Home directory of Pulumi: PULUMI_HOME or ~/.pulumi. */
  readonly pulumiHome: string;
}

/**
 * Reads the search places from the environment.
 *
 * @param own cache of the toolchain; programs in it do not count as found
 */
export function searchPlaces(env: NodeJS.ProcessEnv, own: string): SearchPlaces {
  return {
    path: (env["PATH"] ?? "")
      .split(delimiter)
      .filter((entry) => entry !== "" && !entry.startsWith(own)),
    pulumiHome: env["PULUMI_HOME"] ?? join(homedir(), ".pulumi"),
  };
}

/** Returns the first executable called `name` in one of the directories. */
function executableIn(name: string, directories: readonly string[]): string | undefined {
  for (const directory of directories) {
    const file = join(directory, name);
    try {
      accessSync(file, constants.X_OK);
      return realpathSync(file);
    } catch {
      continue; // not here
    }
  }
  return undefined;
}

/** Returns the first executable called `name` on the path or in the Pulumi home's bin. */
export const findExecutable = (name: string, where: SearchPlaces): string | undefined =>
  executableIn(name, [...where.path, join(where.pulumiHome, "bin")]);

/**
 * Returns the Node language host of `engine`: the engine searches its path, then its own directory,
 * with links resolved.
 */
export function findLanguageHost(engine: string, where: SearchPlaces): string | undefined {
  const name = "pulumi-language-nodejs";
  return findExecutable(name, where) ?? executableIn(name, [dirname(engine)]);
}

/**
 * Bytes from which a file counts as a program: a smaller one may be a script that starts another
 * program each time.
 */
const program = 2 ** 20;

const answered = z.object({ file: z.string(), version: z.string() });

/**
 * Returns an engine's version. The command takes 0.2 s, so its answer is kept while the file is
 * unchanged.
 */
async function versionOf(path: string, kept: string): Promise<string> {
  const { size, ctimeMs, ino, dev } = statSync(path);
  const file = [path, size, ctimeMs, ino, dev].join(" ");
  const before = size < program ? undefined : readAnswer(kept);
  if (before?.file === file) return before.version;
  const { code, stdout } = await run(path, ["version"], { accept: [0, 1, 255] });
  const version = stdout.trim();
  if (size >= program && code === 0) replaceFile(kept, JSON.stringify({ file, version }));
  return version;
}

function readAnswer(kept: string): z.infer<typeof answered> | undefined {
  try {
    return answered.parse(JSON.parse(readFileSync(kept, "utf8")));
  } catch {
    return undefined; // no valid answer is kept
  }
}

/**
 * Returns the installed `pulumi` if it is new enough, otherwise the reason why it is refused.
 *
 * @param kept file that keeps the answer about its version
 */
export async function findEngine(
  where: SearchPlaces,
  wanted: string,
  kept: string,
): Promise<FoundProgram | { readonly refused: string }> {
  const path = findExecutable("pulumi", where);
  if (!path) return { refused: "there is no pulumi on PATH" };
  const version = await versionOf(path, kept);
  if (isAcceptableVersion(version, wanted)) return { version, path };
  return {
    refused: `${path} is ${version === "" ? "not working" : version}, older than ${wanted}`,
  };
}

/**
 * Returns a resource plugin: an executable on the path (which the engine prefers), or one installed
 * in the Pulumi home. There the engine takes only the version that the SDK requires, and only after
 * its installation has finished.
 */
export function findPlugin(
  name: string,
  where: SearchPlaces,
  version: string,
): FoundProgram | undefined {
  const file = `pulumi-resource-${name}`;
  const ambient = findExecutable(file, where);
  if (ambient) return { version: "unknown", path: ambient };
  const directory = join(where.pulumiHome, "plugins", `resource-${name}-v${version}`);
  const path = executableIn(file, [directory]);
  return path !== undefined && !existsSync(`${directory}.partial`) ? { version, path } : undefined;
}
