import { mkdirSync, symlinkSync } from "node:fs";
import { delimiter, join } from "node:path";
import type { OpenstackPlugin } from "../../../base/openstack-plugins.js";
import { cacheDirectory } from "../../../base/paths.js";
import { silent } from "../../../base/progress.js";
import { makeWithGo } from "../../../toolchain/make.js";
import { openstackBuild } from "../../../toolchain/toolchain.js";
import type { Project } from "./project.js";

/** Returns the plugin of that version, built where it is not in the cache. */
export const builtPlugin = (version: OpenstackPlugin): Promise<string> =>
  makeWithGo(openstackBuild(version), { cache: cacheDirectory("toolchain"), progress: silent });

/** Lets an engine find that version before any other. */
export async function usePlugin(
  { directory, environment }: Pick<Project, "directory" | "environment">,
  version: OpenstackPlugin,
): Promise<void> {
  const file = await builtPlugin(version);
  const folder = join(directory, `plugin-${version}`);
  if (mkdirSync(folder, { recursive: true }) !== undefined)
    symlinkSync(file, join(folder, "pulumi-resource-openstack"));
  environment["PATH"] = [folder, environment["PATH"]].join(delimiter);
}
