import { readFileSync } from "node:fs";
import { describeYamlError, parseYaml } from "../../base/yaml.js";
import { isPlainObject, type PlainObject } from "../schema/merge-defaults.js";

type Site =
  | { readonly site: PlainObject }
  | { readonly problem: { readonly path: string; readonly message: string } };

/**
 * Reads the defaults of a site from a YAML file outside the stacks. All clusters of the site share
 * these defaults, such as repositories and registry. Returns no defaults if `file` is not set.
 */
export function readSiteFile(file: string | undefined): Site {
  if (file === undefined || file === "") return { site: {} };
  let reason = `${file} holds no settings`;
  try {
    const site: unknown = parseYaml(readFileSync(file, "utf8")) ?? {};
    if (isPlainObject(site)) return { site };
  } catch (error) {
    reason = `${file} ${whyUnreadable(error)}`;
  }
  const message = `${reason}; name a readable YAML file, or unset it`;
  return { problem: { path: "STACKADM_SITE", message } };
}

const codes: Readonly<Record<string, string>> = {
  ENOENT: "does not exist",
  EISDIR: "is a directory",
  EACCES: "cannot be read by you",
};

const whyUnreadable = (error: unknown): string =>
  codes[(error as NodeJS.ErrnoException).code ?? ""] ?? `is not YAML (${describeYamlError(error)})`;
