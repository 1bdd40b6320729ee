import { existsSync, mkdirSync } from "node:fs";
import { request } from "node:https";
import { delimiter, join } from "node:path";
import {
  defaultOpenstackPlugin,
  type OpenstackPlugin,
} from "../../base/versions/openstack-plugin-versions.js";
import { withLock } from "../../base/file-lock.js";
import { cacheDirectory, packageRoot } from "../../base/paths.js";
import type { Progress } from "../../base/progress.js";
import { run } from "../../base/run-command.js";
import { Failure } from "../../base/failures/failure.js";
import { findEngine, findLanguageHost, findPlugin, searchPlaces } from "./find-programs.js";
import type { SearchPlaces } from "./find-programs.js";
import {
  engineBuild,
  kubernetesPluginIn,
  pluginBuild,
  type KubernetesPlugin,
} from "../../packages/toolchain/builds.js";
import {
  assembleBin,
  forwardScript,
  makeWithGo,
  standInScript,
} from "../../packages/toolchain/make.js";
import {
  downloadHost,
  engineVersion,
  pluginVersions,
} from "../../base/versions/pulumi-versions.js";
import type { PluginName } from "../../base/versions/pulumi-versions.js";

/** Program that `pulumi up` needs, and its origin. */
export interface Piece {
  readonly name: string;
  readonly version: string;
  readonly path: string;
  /**
   * Origin. `found`: already installed; `installed`: downloaded by Pulumi; `built`: from Go
   * modules; `stand-in`: this project's own, see packages/toolchain/.
   */
  readonly origin: "found" | "installed" | "built" | "stand-in";
  /** Sentence that gives the reason for the choice. */
  readonly why: string;
}

export interface Toolchain {
  readonly pieces: readonly Piece[];
  /**
   * Environment for `pulumi`: PATH with the tools first, and variables that prevent needless
   * downloads.
   */
  readonly environment: Readonly<Record<string, string>>;
}

export interface ToolchainOptions {
  readonly progress: Progress;
  readonly signal?: AbortSignal;
  /** Environment of the search. @default the process's environment */
  readonly env?: NodeJS.ProcessEnv;
  /** Folder of the cache. @default `$XDG_CACHE_HOME/stackadm/toolchain` */
  readonly cache?: string;
  /** Version of the OpenStack plugin. @default defaultOpenstackPlugin */
  readonly openstackPlugin?: OpenstackPlugin | undefined;
  /**
   * Allows stand-ins for official plugins that cannot be downloaded. @default true if
   * `STACKADM_STAND_INS` is 1
   */
  readonly standIns?: boolean;
}

const root = packageRoot();

/** Variable whose value 1 allows stand-ins on a cloud other than the lab. */
export const standInsVariable = "STACKADM_STAND_INS";

interface Context {
  readonly cache: string;
  readonly where: SearchPlaces;
  readonly progress: Progress;
  readonly signal?: AbortSignal;
  readonly standIns: boolean;
  readonly kubernetesPlugin: KubernetesPlugin;
  /** Plugin versions that the program asks the engine for. */
  readonly plugins: Readonly<Record<PluginName, string>> & { readonly openstack: OpenstackPlugin };
  /** Scripts for built programs and stand-ins, by name. */
  readonly scripts: Map<string, string>;
  /** Result of the check whether the download host answers; checked at most once. */
  downloads: Promise<boolean> | undefined;
}

/**
 * Finds or provides the Pulumi CLI, the Node language host and the three plugins. Uses installed
 * ones that the engine accepts; else Pulumi's own download; else, if stand-ins are allowed, builds
 * them or uses stand-ins. Can be interrupted, and run twice at the same time. Throws before
 * anything is built if a program is missing and stand-ins are not allowed.
 */
export async function ensureToolchain(options: ToolchainOptions): Promise<Toolchain> {
  const cache = options.cache ?? cacheDirectory("toolchain");
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
      where: searchPlaces(env, cache),
      progress: options.progress,
      signal: options.signal,
      standIns: options.standIns ?? env[standInsVariable] === "1",
      kubernetesPlugin: kubernetesPluginIn(env),
      plugins: { ...pluginVersions, openstack },
      scripts: new Map(),
      downloads: undefined,
    };
    const engine = await engineOf(context);
    const pieces = [engine, languageHost(context, engine)];
    for (const name of ["openstack", "kubernetes", "command"] as const) {
      pieces.push(await plugin(context, name, engine));
    }
    return { pieces, environment: environmentOf(context, env) };
  });
}

async function engineOf(context: Context): Promise<Piece> {
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
  if (!context.standIns) throw missing(`Pulumi ${engineVersion} or newer is needed`, found.refused);
  const path = await makeWithGo(engineBuild, context);
  context.scripts.set("pulumi", forwardScript(path));
  return { name: "pulumi", version: engineVersion, path, origin: "built", why: found.refused };
}

function languageHost(context: Context, engine: Piece): Piece {
  const name = "pulumi-language-nodejs";
  const path = engine.origin === "found" && findLanguageHost(engine.path, context.where);
  if (path) {
    return {
      name,
      version: engine.version,
      path,
      origin: "found",
      why: "on PATH, or beside the pulumi that was found",
    };
  }
  const why =
    engine.origin === "built"
      ? "the pulumi that was built has none"
      : `it is neither on PATH nor beside ${engine.path}`;
  return standIn(context, { name, version: engineVersion, why }, "nodejs");
}

async function plugin(context: Context, name: PluginName, engine: Piece): Promise<Piece> {
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
      signal: context.signal,
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
  const why = `${downloadHost} does not answer`;
  const build = pluginBuild(name, {
    openstack: context.plugins.openstack,
    kubernetes: context.kubernetesPlugin,
  });
  if (!build || !context.standIns) return standIn(context, { name: piece, version, why }, name);
  const path = await makeWithGo(build, context);
  context.scripts.set(piece, forwardScript(path));
  return { name: piece, version: build.version, path, origin: "built", why };
}

/** Returns the error for a missing part of Pulumi that must not be replaced by a stand-in. */
const missing = (what: string, why: string): Failure =>
  new Failure(
    "TOOL_MISSING",
    `${what}: ${why}.`,
    `Install Pulumi (https://www.pulumi.com/docs/install/) and run the same command again. Or set ${standInsVariable}=1: what is missing is then built with Go, or this project's own stand-ins take its place.`,
  );

function standIn(
  context: Context,
  { name, version, why }: Pick<Piece, "name" | "version" | "why">,
  folder: string,
): Piece {
  if (!context.standIns) throw missing(`The official ${name} ${version} is not installed`, why);
  const main = join(root, "dist", "toolchain", "stand-ins", folder, "main.js");
  if (!existsSync(main)) {
    throw new Failure(
      "FAILED",
      `${main} is missing: the stand-in for ${name} is not compiled.`,
      "Run `npm run build`.",
    );
  }
  context.scripts.set(name, standInScript(main));
  return { name, version, path: main, origin: "stand-in", why };
}

/** Reports whether Pulumi's download host answers within 3 s. */
function downloadsAnswer(context: Context): Promise<boolean> {
  context.downloads ??= new Promise((resolvePromise) => {
    const call = request(
      {
        host: downloadHost,
        path: "/releases/plugins/",
        method: "HEAD",
        timeout: 3000,
        signal: context.signal,
      },
      (response) => {
        response.resume();
        resolvePromise(true);
      },
    );
    call.on("timeout", () => call.destroy(new Error("timeout")));
    call.on("error", () => {
      resolvePromise(false);
    });
    call.end();
  });
  return context.downloads;
}

function environmentOf(context: Context, env: NodeJS.ProcessEnv): Record<string, string> {
  const inherited = env["PATH"] ?? "";
  const variables: Record<string, string> = { PULUMI_SKIP_UPDATE_CHECK: "true" };
  const home = join(context.where.pulumiHome, "bin");
  const tools = context.scripts.size > 0 ? [assembleBin(context.cache, context.scripts)] : [];
  const path = [...tools, inherited, ...(existsSync(home) ? [home] : [])];
  variables["PATH"] = path.join(delimiter);
  // The plugin that is built is older than the provider's setting enablePatchForce.
  if (context.kubernetesPlugin === "built" && context.scripts.has("pulumi-resource-kubernetes"))
    variables["PULUMI_K8S_ENABLE_PATCH_FORCE"] = "true";
  // Without this, the engine would download plugins that are on PATH already.
  if (context.scripts.size > 0) variables["PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION"] = "true";
  return variables;
}
