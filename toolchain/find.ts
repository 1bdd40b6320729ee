import { accessSync, constants, existsSync, readFileSync, realpathSync, statSync } from "node:fs";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { z } from "zod";
import { writeWhole } from "../base/files.js";
import { run } from "../base/run.js";
import { acceptable } from "./versions.js";

export interface Found {
  readonly version: string;
  readonly path: string;
}

/** Where to look; taken from the environment by `searchPlaces`. */
export interface SearchPlaces {
  /** Directories of PATH, without our own cache. */
  readonly path: readonly string[];
  /** The Pulumi home: PULUMI_HOME or ~/.pulumi. */
  readonly pulumiHome: string;
}

/** `own` is the toolchain's cache: what was made there earlier does not count as found. */
export function searchPlaces(env: NodeJS.ProcessEnv, own: string): SearchPlaces {
  return {
    path: (env["PATH"] ?? "")
      .split(delimiter)
      .filter((entry) => entry !== "" && !entry.startsWith(own)),
    pulumiHome: env["PULUMI_HOME"] ?? join(homedir(), ".pulumi"),
  };
}

/** The first executable called `name` in one of the directories. */
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

/** The first executable called `name` on the path or in the Pulumi home's bin. */
export const executable = (name: string, where: SearchPlaces): string | undefined =>
  executableIn(name, [...where.path, join(where.pulumiHome, "bin")]);

/** The Node language host of `engine`: the engine looks on its path, then beside itself, where links have led to it. */
export function findLanguageHost(engine: string, where: SearchPlaces): string | undefined {
  const name = "pulumi-language-nodejs";
  return executable(name, where) ?? executableIn(name, [dirname(engine)]);
}

/** Bytes from which a file is a program: a smaller one may be a script that leads to another each time. */
const program = 2 ** 20;

const answered = z.object({ file: z.string(), version: z.string() });

/** What an engine says of its version. Asking takes 0.2 s: while the file is the same, it says the same. */
async function versionOf(path: string, kept: string): Promise<string> {
  const { size, ctimeMs, ino, dev } = statSync(path);
  const file = [path, size, ctimeMs, ino, dev].join(" ");
  const before = size < program ? undefined : readAnswer(kept);
  if (before?.file === file) return before.version;
  const { code, stdout } = await run(path, ["version"], { accept: [0, 1, 255] });
  const version = stdout.trim();
  if (size >= program && code === 0) writeWhole(kept, JSON.stringify({ file, version }));
  return version;
}

function readAnswer(kept: string): z.infer<typeof answered> | undefined {
  try {
    return answered.parse(JSON.parse(readFileSync(kept, "utf8")));
  } catch {
    return undefined; // never asked
  }
}

/**
 * The `pulumi` that is there and new enough, or why the one that is there does not serve.
 *
 * @param kept file for what it said of its version
 */
export async function findEngine(
  where: SearchPlaces,
  wanted: string,
  kept: string,
): Promise<Found | { readonly refused: string }> {
  const path = executable("pulumi", where);
  if (!path) return { refused: "there is no pulumi on PATH" };
  const version = await versionOf(path, kept);
  if (acceptable(version, wanted)) return { version, path };
  return {
    refused: `${path} is ${version === "" ? "not working" : version}, older than ${wanted}`,
  };
}

/**
 * A resource plugin: an executable on the path (as the engine prefers it), or installed in the Pulumi home. There the engine
 * takes the version that the SDK asks for and no other, and nothing whose installation has not ended.
 */
export function findPlugin(name: string, where: SearchPlaces, version: string): Found | undefined {
  const file = `pulumi-resource-${name}`;
  const ambient = executable(file, where);
  if (ambient) return { version: "unknown", path: ambient };
  const directory = join(where.pulumiHome, "plugins", `resource-${name}-v${version}`);
  const path = executableIn(file, [directory]);
  return path !== undefined && !existsSync(`${directory}.partial`) ? { version, path } : undefined;
}
