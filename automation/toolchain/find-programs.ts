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

/**
 * Directories in which programs are searched. `getSearchPlaces` reads the directories from the
 * environment.
 */
export interface SearchPlaces {
  /** Directories of PATH, without the toolchain's own cache. */
  readonly path: readonly string[];
  /** Pulumi's home directory: PULUMI_HOME, or else ~/.pulumi. */
  readonly pulumiHome: string;
}

/**
 * Returns the search places from the environment.
 *
 * @param own cache of the toolchain. The programs in this directory are ignored
 */
export function getSearchPlaces(env: NodeJS.ProcessEnv, own: string): SearchPlaces {
  return {
    path: (env["PATH"] ?? "")
      .split(delimiter)
      .filter((entry) => entry !== "" && !entry.startsWith(own)),
    pulumiHome: env["PULUMI_HOME"] ?? join(homedir(), ".pulumi"),
  };
}

/**
 * Returns the path of the first executable called `name` in the directories, with links resolved.
 */
function executableIn(name: string, directories: readonly string[]): string | undefined {
  for (const directory of directories) {
    const file = join(directory, name);
    try {
      accessSync(file, constants.X_OK);
      return realpathSync(file);
    } catch {
      continue; // This directory has no such executable.
    }
  }
  return undefined;
}

/**
 * Returns the first executable called `name` in PATH, or else in `bin` of Pulumi's home directory.
 */
export const findExecutable = (name: string, where: SearchPlaces): string | undefined =>
  executableIn(name, [...where.path, join(where.pulumiHome, "bin")]);

/**
 * Returns the Node language host that `engine` would use. The engine searches PATH first, and then
 * its own directory with links resolved.
 */
export function findLanguageHost(engine: string, where: SearchPlaces): string | undefined {
  const name = "pulumi-language-nodejs";
  return findExecutable(name, where) ?? executableIn(name, [dirname(engine)]);
}

/**
 * Minimum size in bytes of a program whose version is cached. A smaller file may be a script that
 * does not always start the same program.
 */
const program = 2 ** 20;

const answered = z.object({ file: z.string(), version: z.string() });

/**
 * Returns the version of an engine. `pulumi version` takes 0.2 s, so the version is cached until
 * the file changes.
 *
 * @param kept path of the file that caches the version
 */
async function versionOf(path: string, kept: string): Promise<string> {
  const { size, ctimeMs, ino, dev } = statSync(path);
  const file = [path, size, ctimeMs, ino, dev].join(" ");
  const before = size < program ? undefined : readAnswer(kept);
  if (before?.file === file) return before.version;
  const { code, stdout } = await run(path, ["version"], { accept: [0, 1, 255], timeout: 60_000 });
  const version = stdout.trim();
  if (size >= program && code === 0) replaceFile(kept, JSON.stringify({ file, version }));
  return version;
}

function readAnswer(kept: string): z.infer<typeof answered> | undefined {
  try {
    return answered.parse(JSON.parse(readFileSync(kept, "utf8")));
  } catch {
    return undefined; // There is no valid cache.
  }
}

/**
 * Returns the installed `pulumi` if it is new enough. Otherwise returns the reason why it cannot be
 * used.
 *
 * @param kept path of the file that caches its version
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
 * Returns a resource plugin: an executable in PATH, or else a plugin in Pulumi's home directory.
 * The engine prefers PATH. In Pulumi's home directory, the engine accepts only the version that the
 * SDK requires, and only a complete installation.
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
