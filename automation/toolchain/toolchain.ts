import { existsSync, mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import {
  defaultOpenstackPlugin,
  type PulumiOpenstackVersion,
} from "../../base/versions/pulumi-openstack-versions.js";
import { withLock } from "../../base/file-lock.js";
import { getCachePath } from "../../base/paths.js";
import type { Progress } from "../../base/progress.js";
import { sendHttpRequest } from "../../openstack/http/http-exchange.js";
import { run } from "../../base/run-command.js";
import { Failure } from "../../base/failures/failure.js";
import type { ToolchainPackageExports } from "../../base/substitute-programs.js";
import {
  pluginDownloadHost,
  engineVersion,
  pluginVersions,
  type PluginName,
} from "../../base/versions/pulumi-versions.js";
import { findEngine, findLanguageHost, findPlugin, getSearchPlaces } from "./find-programs.js";
import type { SearchPlaces } from "./find-programs.js";
import { createBinDirectory } from "./program-scripts.js";
import { convertPackageFailure, loadToolchainPackage } from "./toolchain-package.js";

/** Program that Pulumi needs for an operation, and where the program comes from. */
export interface ToolchainProgram {
  readonly name: string;
  readonly version: string;
  readonly path: string;
  /**
   * Origin of the program. `found`: already installed. `installed`: downloaded by Pulumi. `built`:
   * built from Go modules by `@stackadm/toolchain`. `stand-in`: own implementation in
   * `@stackadm/toolchain`.
   */
  readonly origin: "found" | "installed" | "built" | "stand-in";
  /** Sentence that says why this program was chosen. */
  readonly why: string;
}

export interface Toolchain {
  readonly pieces: readonly ToolchainProgram[];
  /**
   * Environment variables for `pulumi`: PATH with the tools first, and variables that prevent
   * needless downloads.
   */
  readonly environment: Readonly<Record<string, string>>;
}

export interface ToolchainOptions {
  readonly progress: Progress;
  readonly signal?: AbortSignal;
  /** Environment in which the programs are searched. @default the process's environment */
  readonly env?: NodeJS.ProcessEnv;
  /** Directory of the cache. @default `$XDG_CACHE_HOME/stackadm/toolchain` */
  readonly cache?: string;
  /** Version of the OpenStack plugin. @default defaultOpenstackPlugin */
  readonly openstackPlugin?: PulumiOpenstackVersion | undefined;
  /**
   * Whether stand-ins are allowed for official programs that cannot be downloaded.
   * @default true if `STACKADM_STAND_INS` is 1
   */
  readonly standIns?: boolean;
  /**
   * Source of programs that replace missing programs, if stand-ins are allowed.
   * @default the package `@stackadm/toolchain`, if it is installed
   */
  readonly substitutes?: ToolchainPackageExports;
}

/**
 * Name of the environment variable that allows stand-ins if its value is 1. The variable applies to
 * all clouds, not only to the lab.
 */
export const allowStandInsVariable = "STACKADM_STAND_INS";

interface Context {
  readonly cache: string;
  readonly where: SearchPlaces;
  readonly progress: Progress;
  readonly signal?: AbortSignal;
  readonly env: NodeJS.ProcessEnv;
  readonly standIns: boolean;
  readonly substitutes: ToolchainPackageExports | undefined;
  /** Versions of the plugins that the SDKs of the program require. */
  readonly plugins: Readonly<Record<PluginName, string>> & {
    readonly openstack: PulumiOpenstackVersion;
  };
  /**
   * Scripts that start substitutes for missing programs: a map from the name of a program to the
   * text of the script. `variables` contains the environment variables that Pulumi needs with these
   * substitutes.
   */
  readonly scripts: Map<string, string>;
  readonly variables: Record<string, string>;
  /** Whether the download host answers. Checked at most once. Undefined: not checked yet. */
  downloads: Promise<boolean> | undefined;
}

/**
 * Finds the Pulumi CLI, the Node language host and the three plugins, or provides the missing
 * programs. Prefers installed programs that the engine accepts, then Pulumi's own download. If
 * stand-ins are allowed, the last choice is to build the program or to use a stand-in. Throws
 * before anything is built if a program is missing and stand-ins are not allowed. An interrupted
 * call can be repeated, and several calls may run concurrently.
 */
export async function ensureToolchain(options: ToolchainOptions): Promise<Toolchain> {
  const cache = options.cache ?? getCachePath("toolchain");
  const env = options.env ?? process.env;
  const openstack = options.openstackPlugin ?? defaultOpenstackPlugin;
  mkdirSync(cache, { recursive: true });
  const lock = {
    purpose: "preparing the toolchain",
    waitMs: 45 * 60_000,
    signal: options.signal,
    onWait: (holder: { pid: number }) => {
      options.progress.note(
        `Waiting for process ${holder.pid.toString()}, which prepares the toolchain.`,
      );
    },
  };
  return withLock(join(cache, "lock"), lock, async () => {
    const context: Context = {
      cache,
      where: getSearchPlaces(env, cache),
      progress: options.progress,
      signal: options.signal,
      env,
      standIns: options.standIns ?? env[allowStandInsVariable] === "1",
      substitutes: options.substitutes,
      plugins: { ...pluginVersions, openstack },
      scripts: new Map(),
      variables: {},
      downloads: undefined,
    };
    const engine = await engineOf(context);
    const pieces = [engine, await languageHost(context, engine)];
    for (const name of ["openstack", "kubernetes", "command"] as const) {
      pieces.push(await plugin(context, name, engine));
    }
    return { pieces, environment: environmentOf(context) };
  });
}

async function engineOf(context: Context): Promise<ToolchainProgram> {
  const found = await findEngine(
    context.where,
    engineVersion,
    join(context.cache, "engine-version.json"),
  );
  if ("path" in found) {
    return {
      ...found,
      name: "pulumi",
      origin: "found",
      why: "on PATH or in the Pulumi home, new enough",
    };
  }
  const what = `Pulumi ${engineVersion} or newer is needed`;
  return substitute(context, { name: "pulumi", version: engineVersion, why: found.refused }, what);
}

async function languageHost(context: Context, engine: ToolchainProgram): Promise<ToolchainProgram> {
  const name = "pulumi-language-nodejs";
  const path = engine.origin === "found" && findLanguageHost(engine.path, context.where);
  if (path) {
    return {
      name,
      version: engine.version,
      path,
      origin: "found",
      why: "on PATH, or next to the pulumi that was found",
    };
  }
  const why =
    engine.origin === "built"
      ? "the pulumi that was built has none"
      : `it is neither on PATH nor next to ${engine.path}`;
  return substitute(context, { name, version: engineVersion, why });
}

/** Time limit in milliseconds for the download of a plugin, which has up to 150 MB. */
const installMilliseconds = 1_800_000;

async function plugin(
  context: Context,
  name: PluginName,
  engine: ToolchainProgram,
): Promise<ToolchainProgram> {
  const version = context.plugins[name];
  const piece = `pulumi-resource-${name}`;
  const found = findPlugin(name, context.where, version);
  if (found)
    return {
      ...found,
      name: piece,
      origin: "found",
      why: "on PATH or installed in the Pulumi home",
    };
  if (await downloadsAnswer(context)) {
    await run(engine.path, ["plugin", "install", "resource", name, version], {
      env: context.env,
      signal: context.signal,
      timeout: installMilliseconds,
    });
    const path = findPlugin(name, context.where, version)?.path ?? context.where.pulumiHome;
    return {
      name: piece,
      version,
      path,
      origin: "installed",
      why: "downloaded by pulumi plugin install",
    };
  }
  return substitute(context, {
    name: piece,
    version,
    why: `${pluginDownloadHost} does not answer`,
  });
}

/** Returns the error about a missing program for which no substitute is allowed or available. */
const missing = (what: string, why: string): Failure =>
  new Failure(
    "TOOL_MISSING",
    `${what}: ${why}.`,
    `Install Pulumi (https://www.pulumi.com/docs/install/) and run the same command again. Or install the package @stackadm/toolchain and set ${allowStandInsVariable}=1: what is missing is then built with Go, or the package's own stand-ins take its place.`,
  );

/**
 * Returns a substitute for a program that is not installed. Throws if substitutes are not allowed
 * or not available.
 */
async function substitute(
  context: Context,
  { name, version, why }: Pick<ToolchainProgram, "name" | "version" | "why">,
  what = `The official ${name} ${version} is not installed`,
): Promise<ToolchainProgram> {
  const { cache, env, progress, signal } = context;
  if (!context.standIns) throw missing(what, why);
  const substitutes = context.substitutes ?? loadToolchainPackage();
  if (!substitutes) throw missing(what, why);
  const options = { cache, env, progress, signal };
  const standIn = await substitutes
    .substitute({ name, version }, options)
    .catch((error: unknown) => {
      throw convertPackageFailure(error);
    });
  context.scripts.set(name, standIn.script);
  Object.assign(context.variables, standIn.environment);
  return { name, version: standIn.version, path: standIn.path, origin: standIn.origin, why };
}

/** Returns whether Pulumi's download host answers within 3 s, directly or through the proxy. */
function downloadsAnswer(context: Context): Promise<boolean> {
  const { env: proxies, signal } = context;
  const url = `https://${pluginDownloadHost}/releases/plugins/`;
  context.downloads ??= sendHttpRequest(url, {
    method: "HEAD",
    timeout: 3000,
    signal,
    proxies,
  }).then(
    () => true,
    () => false,
  );
  return context.downloads;
}

function environmentOf({ env, where, cache, scripts, variables }: Context): Record<string, string> {
  const inherited = env["PATH"] ?? "";
  const home = join(where.pulumiHome, "bin");
  const tools = scripts.size > 0 ? [createBinDirectory(cache, scripts)] : [];
  const path = [...tools, inherited, ...(existsSync(home) ? [home] : [])];
  return {
    PULUMI_SKIP_UPDATE_CHECK: "true",
    PATH: path.join(delimiter),
    ...variables,
    // Without this variable, the engine would download plugins that are already in PATH.
    ...(scripts.size > 0 && { PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true" }),
  };
}
