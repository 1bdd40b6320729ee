import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { isMap, isScalar, visit, type Scalar } from "yaml";
import { z } from "zod";
import { isSystemError } from "../../base/failures/expected-errors.js";
import { describeYamlError, parseYamlDocument } from "../../base/yaml.js";
import { CloudError } from "../http/cloud-error.js";
import { authKeys, placeAuthKeys, type CloudsReader } from "./cloud-keys.js";

const scalar = z.union([z.string(), z.number()]).transform(String);
const plainEntry = z.looseObject({
  auth: z.record(z.string(), scalar.nullable()).optional(),
  auth_type: z.string().optional(),
  region_name: scalar.optional(),
  interface: z.string().optional(),
  endpoint_type: z.string().optional(),
  verify: z.boolean().optional(),
  insecure: z.boolean().optional(),
  cacert: z.string().optional(),
  cert: z.string().optional(),
  key: z.string().optional(),
});
const regionSchema = z.union([
  scalar.transform((name) => ({ name, values: undefined })),
  z.object({ name: scalar, values: plainEntry.optional() }),
]);
const entrySchema = plainEntry.extend({
  profile: z.string().optional(),
  /** Old name of `profile` in openstacksdk. */
  cloud: z.string().optional(),
  regions: z.array(regionSchema).optional(),
});

/** Settings of one cloud in clouds.yaml. */
export type CloudsEntry = z.infer<typeof entrySchema>;

/**
 * Returns the values of `over`, and values of `plain` for keys that `over` does not set. Merges the
 * keys of `auth` in the same way.
 */
export function mergeCloudsEntries(plain: CloudsEntry, over: CloudsEntry | undefined): CloudsEntry {
  const written = Object.entries(over ?? {}).filter(([, value]) => value !== undefined);
  return { ...plain, ...Object.fromEntries(written), auth: { ...plain.auth, ...over?.auth } };
}

/**
 * Keys whose values are always strings, even if they are written as digits without quotes. As
 * numbers, such values would lose leading zeros, and long values would lose their last digits.
 */
const texts: ReadonlySet<string> = new Set(["auth", "region_name", ...authKeys]);

/** Returns the content of a YAML file. Under the keys in `texts`, digits become strings. */
function asWritten(text: string): unknown {
  const document = parseYamlDocument(text);
  const [wrong] = document.errors;
  if (wrong) throw wrong;
  const asText = (node: Scalar): void => {
    if (typeof node.value === "number") node.value = node.source;
  };
  visit(document, {
    Pair: (_, { key, value }) => {
      if (!isScalar(key) || !texts.has(String(key.value).replaceAll("-", "_"))) return;
      const values = isMap(value) ? value.items.map((pair) => pair.value) : [value];
      for (const node of values) if (isScalar(node)) asText(node);
    },
  });
  return document.toJS();
}

function contentOf(path: string): unknown {
  try {
    return asWritten(readFileSync(path, "utf8")) ?? {};
  } catch (error) {
    const why = isSystemError(error) ? error.message : describeYamlError(error);
    throw new CloudError("configuration", `${path} cannot be read: ${why}.`);
  }
}

/** Section of a file: clouds, or the profiles of clouds. */
type Section = "clouds" | "public-clouds";

function refuseFormat(path: string, section: Section, issues: readonly z.core.$ZodIssue[]): never {
  throw new CloudError(
    "configuration",
    `${path} is not a clouds.yaml: ${issues.map(sentenceOf).join("; ")}.`,
    `Write it like \`${section}: {name: {auth: {auth_url: ..., username: ...}, region_name: ...}}\`.`,
  );
}

interface NamedEntry {
  /** Entry as this program reads it. */
  readonly entry?: CloudsEntry;
  /** Entry as OpenStack's provider reads it. */
  readonly seen?: CloudsEntry;
  /** Names of all entries in the section. */
  readonly names: readonly string[];
}

/**
 * Returns the entry with the name. Checks only this entry, because other entries may belong to
 * other users and programs.
 */
function readEntry(path: string, section: Section, name: string): NamedEntry {
  const schema = z.looseObject({ [section]: z.record(z.string(), z.unknown()).nullish() });
  const content = schema.safeParse(contentOf(path));
  if (!content.success) return refuseFormat(path, section, content.error.issues);
  const entries = content.data[section] ?? {};
  const names = Object.keys(entries);
  if (!Object.hasOwn(entries, name)) return { names };
  const readBy = (reader: CloudsReader): CloudsEntry => {
    const where = `${name} in ${path}`;
    const placed = withPlacedRegions(placeAuthKeys(entries[name], reader, where), reader, where);
    const { success, data, error } = entrySchema.safeParse(placed);
    if (success) return data;
    const issues = error.issues.map((one) => ({ ...one, path: [section, name, ...one.path] }));
    return refuseFormat(path, section, issues);
  };
  return { entry: readBy("program"), seen: readBy("provider"), names };
}

/** Returns an entry with the values of its regions as the reader understands them. */
function withPlacedRegions(entry: unknown, reader: CloudsReader, where: string): unknown {
  const regions = (entry as { readonly regions?: unknown } | null)?.regions;
  if (!Array.isArray(regions)) return entry;
  const placed = regions.map((region: unknown) =>
    typeof region === "object" && region !== null && "values" in region
      ? { ...region, values: placeAuthKeys(region.values, reader, `a region of ${where}`) }
      : region,
  );
  return { ...(entry as object), regions: placed };
}

const kinds: Readonly<Record<string, string>> = {
  object: "a map",
  record: "a map",
  array: "a list",
  string: "text",
  number: "a number",
  boolean: "true or false",
  null: "nothing",
};

/**
 * Returns a sentence about an error at one place of the file. The sentence does not contain the
 * value, because the value may be a password.
 */
function sentenceOf({ path, message }: z.core.$ZodIssue): string {
  const [, expected = "", received = ""] = /expected (\w+), received (\w+)/.exec(message) ?? [];
  const wrong =
    expected === ""
      ? `is ${path.at(-2) === "regions" ? "not the name of a region" : "neither text nor a number"}`
      : `is ${kinds[received] ?? received} and must be ${kinds[expected] ?? expected}`;
  return path.length === 0 ? `the whole ${wrong}` : `${path.map(String).join(".")} ${wrong}`;
}

const firstOf = (paths: readonly string[]): string | undefined =>
  paths.find((path) => existsSync(path));

/**
 * Returns the values of the profile that the entry names. Reads only the first existing
 * clouds-public.yaml. Does not know openstacksdk's built-in vendor profiles.
 */
function profileOf(
  entry: CloudsEntry,
  folders: readonly string[],
  where: string,
): Pick<NamedEntry, "entry" | "seen"> {
  const name = entry.profile ?? entry.cloud;
  if (name === undefined || name === "") return {};
  const path = firstOf(folders.map((folder) => join(folder, "clouds-public.yaml")));
  const found = path === undefined ? undefined : readEntry(path, "public-clouds", name);
  if (found?.entry) return found;
  const holds = found
    ? `${path ?? ""} holds ${found.names.join(", ") || "none"}`
    : `there is no clouds-public.yaml in ${folders.join(", ")}`;
  throw new CloudError(
    "configuration",
    `${where}: there is no profile '${name}': ${holds}.`,
    "Write the profile there under `public-clouds`, or its values into the entry instead of `profile`.",
  );
}

/**
 * Returns the entry with the values of one region. The region is OS_REGION_NAME. Without this
 * variable, it is `region_name` in the entry. Without `region_name`, it is the first region in the
 * list.
 */
function inRegion(entry: CloudsEntry, wanted: string | undefined, where: string): CloudsEntry {
  const regions = entry.regions ?? [];
  const name = wanted ?? entry.region_name ?? regions[0]?.name;
  const region = regions.find((one) => one.name === name);
  if (regions.length > 0 && !region)
    throw new CloudError(
      "configuration",
      `${where}: '${name}' is not one of its regions; write one of ${regions.map((one) => one.name).join(", ")}.`,
      wanted === undefined ? "Correct `region_name`." : "Set the region with OS_REGION_NAME.",
    );
  return { ...mergeCloudsEntries(entry, region?.values), region_name: name };
}

export interface CloudsEntrySearch {
  /** Possible paths of clouds.yaml. Only the first existing file is read. */
  readonly candidates: readonly string[];
  /** Folders in which this program looks for secure.yaml and clouds-public.yaml. */
  readonly folders: readonly string[];
  /** Folders in which OpenStack's provider looks for secure.yaml. A subset of `folders`. */
  readonly standard: readonly string[];
  /** Name of the region. @default the region in the entry */
  readonly region?: string;
}

export interface FoundCloudsEntry {
  readonly entry: CloudsEntry;
  /** Name and file of the entry, for messages. */
  readonly where: string;
  /** Path of the clouds.yaml that contains the entry. */
  readonly path: string;
  /**
   * Entry as OpenStack's provider reads it. The provider looks for secure.yaml only in the standard
   * folders, not next to clouds.yaml.
   */
  readonly seen: CloudsEntry;
}

/**
 * Returns the entry of a cloud, and the file that contains the entry. Merges the values in this
 * order: profile, entry, secure.yaml, region. A later source overrides earlier sources.
 */
export function findCloudsEntry(
  name: string,
  { candidates, folders, standard, region }: CloudsEntrySearch,
): FoundCloudsEntry {
  const path = firstOf(candidates);
  if (path === undefined)
    throw new CloudError(
      "configuration",
      `Cannot find cloud '${name}': there is no clouds.yaml in ${candidates.map((c) => dirname(c)).join(", ")}.`,
      "Put a clouds.yaml there, or name the file with OS_CLIENT_CONFIG_FILE.",
    );
  const open = readEntry(path, "clouds", name);
  if (!open.entry)
    throw new CloudError(
      "configuration",
      `There is no cloud '${name}' in ${path}.`,
      `It holds: ${open.names.join(", ") || "none"}. Set OS_CLOUD, or openstack:cloud in the settings of the stack, to one of them.`,
    );
  const where = `${name} in ${path}`;
  const secure = firstOf([dirname(path), ...folders].map((folder) => join(folder, "secure.yaml")));
  const own = mergeCloudsEntries(
    open.entry,
    secure === undefined ? undefined : readEntry(secure, "clouds", name).entry,
  );
  const profile = profileOf(own, folders, where);
  const entry = inRegion(mergeCloudsEntries(profile.entry ?? {}, own), region, where);
  const theirs = firstOf(standard.map((folder) => join(folder, "secure.yaml")));
  const over = theirs === undefined ? undefined : readEntry(theirs, "clouds", name).seen;
  const seen = mergeCloudsEntries(mergeCloudsEntries(profile.seen ?? {}, open.seen), over);
  // The program passes the region to the provider in OS_REGION_NAME.
  return { entry, where, path, seen: inRegion(seen, entry.region_name, where) };
}
