import { mergeDefaults } from "../schema/merge-defaults.js";
import { readSiteFile } from "./site-file.js";
import { createConfigError } from "../pulumi/errors.js";

/**
 * Returns a cluster's arguments, completed by the site's defaults. `STACKADM_SITE` in `env` names
 * the YAML file with the defaults. Objects are merged by key. A list in `args` replaces the list in
 * the defaults. Throws if the file cannot be read.
 */
export function withSiteDefaults<Args>(args: Args, env: NodeJS.ProcessEnv): Args {
  const read = readSiteFile(env["STACKADM_SITE"]);
  if ("problem" in read) throw createConfigError("The environment", [read.problem]);
  return mergeDefaults(read.site, args) as Args;
}
