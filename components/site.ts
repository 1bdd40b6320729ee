import { merge } from "./spec/defaults.js";
import { readSite } from "./spec/site.js";
import { ConfigError } from "./support/errors.js";

/**
 * A cluster's arguments over the defaults of the place where it is made: those in the YAML file that `STACKADM_SITE` of `env` names.
 * Objects are merged, lists are not. Throws when the file cannot be read.
 */
export function withSiteDefaults<Args>(args: Args, env: NodeJS.ProcessEnv): Args {
  const read = readSite(env["STACKADM_SITE"]);
  if ("problem" in read) throw new ConfigError("The environment", [read.problem]);
  return merge(read.site, args) as Args;
}
