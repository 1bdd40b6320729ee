import { existsSync, mkdirSync, readdirSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import {
  openstackPluginVersions,
  type PulumiOpenstackVersion,
} from "../../../base/versions/pulumi-openstack-versions.js";
import { getCachePath } from "../../../base/paths.js";
import { silentProgress } from "../../../base/progress.js";
import { getOpenstackPluginBuild } from "../../../packages/toolchain/builds.js";
import { makeWithGo } from "../../../packages/toolchain/make.js";
import type { Project } from "./project.js";

const plugin = "pulumi-resource-openstack";

type Place = Pick<Project, "directory" | "environment">;

/** Returns the path of a plugin, and builds it unless it is in the cache. */
export const builtPlugin = (version: PulumiOpenstackVersion): Promise<string> =>
  makeWithGo(getOpenstackPluginBuild(version), {
    cache: getCachePath("toolchain"),
    progress: silentProgress,
  });

/**
 * Puts a plugin first on a project's PATH. The engine then uses this plugin for every requested
 * version.
 */
export async function usePlugin(
  { directory, environment }: Place,
  version: PulumiOpenstackVersion,
): Promise<void> {
  const file = await builtPlugin(version);
  const folder = join(directory, `plugin-${version}`);
  if (mkdirSync(folder, { recursive: true }) !== undefined) symlinkSync(file, join(folder, plugin));
  environment["PATH"] = [folder, environment["PATH"]].join(delimiter);
}

/**
 * Installs all versions in a Pulumi home of the project, as `pulumi plugin install` does. Removes
 * the plugin from PATH, so that the engine uses the version that the program or the state requests.
 */
export async function installPlugins({ directory, environment }: Place): Promise<void> {
  const home = join(directory, "home");
  for (const version of openstackPluginVersions) {
    const folder = join(home, "plugins", `resource-openstack-v${version}`);
    mkdirSync(folder, { recursive: true });
    symlinkSync(await builtPlugin(version), join(folder, plugin));
  }
  const path = (environment["PATH"] ?? "").split(delimiter);
  const tools = join(directory, "tools");
  mkdirSync(tools);
  const withPlugin = path.filter((one) => existsSync(join(one, plugin)));
  for (const folder of withPlugin)
    for (const name of readdirSync(folder).filter((one) => one !== plugin))
      if (!existsSync(join(tools, name))) symlinkSync(join(folder, name), join(tools, name));
  const others = path.filter((one) => !withPlugin.includes(one));
  Object.assign(environment, { PULUMI_HOME: home, PATH: [tools, ...others].join(delimiter) });
}
