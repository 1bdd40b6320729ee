import { readFileSync } from "node:fs";
import { parse } from "yaml";
import { isFields, merge, type Fields } from "../spec/defaults.js";
import { ConfigError } from "./errors.js";

type Site =
  | { readonly site: Fields }
  | { readonly problem: { readonly path: string; readonly message: string } };

/** Defaults of the place where clusters are made (repositories, registry), kept apart from the stacks. */
export function readSite(file: string | undefined): Site {
  if (file === undefined || file === "") return { site: {} };
  let reason = `${file} holds no settings`;
  try {
    const site: unknown = parse(readFileSync(file, "utf8")) ?? {};
    if (isFields(site)) return { site };
  } catch (error) {
    reason = error instanceof Error ? error.message : String(error);
  }
  const message = `${reason}; name a readable YAML file, or unset it`;
  return { problem: { path: "STACKADM_SITE", message } };
}

/**
 * A cluster's arguments over the defaults of the place where it is made: those in the YAML file that `STACKADM_SITE` of `env` names.
 * Objects are merged, lists are not. Throws when the file cannot be read.
 */
export function withSiteDefaults<Args>(args: Args, env: NodeJS.ProcessEnv): Args {
  const read = readSite(env["STACKADM_SITE"]);
  if ("problem" in read) throw new ConfigError("The environment", [read.problem]);
  return merge(read.site, args) as Args;
}
