import { readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { isSystemError } from "../../base/failures/expected-errors.js";
import { Failure } from "../../base/failures/failure.js";
import { removeUrlPassword } from "../../base/url-passwords.js";
import { CloudError } from "../http/cloud-error.js";
import { requireUsableAuth } from "./cloud-keys.js";
import { findCloudsEntry, mergeCloudsEntries, type CloudsEntry } from "./clouds-entry.js";
import {
  parseCredential,
  nameAuthKey,
  environmentSource,
  requireOneLogin,
  type CloudsAuth,
  type Credential,
} from "./credential.js";

/** Settings for the connection to a cloud, from clouds.yaml or the OS_* variables. */
export interface CloudSettings {
  /** Name of the cloud for messages: its name in clouds.yaml, or "OS_AUTH_URL". */
  readonly name: string;
  readonly authUrl: string;
  readonly region?: string;
  /** Interface of the catalog's endpoints: `public`, `internal` or `admin`. Default: public. */
  readonly interface: string;
  /** Whether the program verifies the cloud's TLS certificate. */
  readonly verify: boolean;
  /** Certificate of the cloud's private CA, in PEM. */
  readonly ca?: string;
  /** Client certificate in PEM. Set only together with `key`. */
  readonly cert?: string;
  readonly key?: string;
  readonly credential: Credential;
  /** Path of the clouds.yaml. Undefined: the settings come from OS_* variables. */
  readonly file?: string;
  /**
   * Environment variables for OpenStack's provider. These variables contain settings in clouds.yaml
   * that this program reads but the provider does not read. Some values are secret.
   */
  readonly unseen: Readonly<Record<string, string>>;
  /** Keys of `auth` that OpenStack's provider reads in the files. */
  readonly fileAuth: readonly string[];
}

/** Returns the folders in which openstacksdk and OpenStack's provider look for files, in order. */
const cloudsFolders = (cwd = process.cwd(), home = homedir()): string[] => [
  cwd,
  join(home, ".config", "openstack"),
  "/etc/openstack",
];

/**
 * Returns the possible paths of clouds.yaml in openstacksdk's order. Only the first existing file
 * is read.
 */
export function listCloudsFileCandidates(
  env: NodeJS.ProcessEnv,
  cwd = process.cwd(),
  home = homedir(),
): string[] {
  const named = env["OS_CLIENT_CONFIG_FILE"];
  return [
    ...(named === undefined || named === "" ? [] : [named]),
    ...cloudsFolders(cwd, home).map((folder) => join(folder, "clouds.yaml")),
  ];
}

/** Returns the value of a variable. Returns undefined if the value is empty. */
const valueOf = (env: NodeJS.ProcessEnv, name: string): string | undefined =>
  env[name] === "" ? undefined : env[name];

/**
 * Returns the variables that override a cloud's entry in clouds.yaml. The `openstack` command and
 * OpenStack's provider use the same variables.
 */
function entryFromEnvironment(env: NodeJS.ProcessEnv): CloudsEntry {
  const insecure = valueOf(env, "OS_INSECURE");
  const any = /^(1|t|true)$/i.test(insecure ?? "");
  return {
    interface: valueOf(env, "OS_INTERFACE") ?? valueOf(env, "OS_ENDPOINT_TYPE"),
    ...(insecure !== undefined && { verify: !any, insecure: false }),
    cacert: valueOf(env, "OS_CACERT"),
    cert: valueOf(env, "OS_CERT"),
    key: valueOf(env, "OS_KEY"),
  };
}

export interface CloudsFileOptions {
  /** Environment variables, which override the file. @default none */
  readonly env?: NodeJS.ProcessEnv;
  /**
   * Folders in which this program looks for secure.yaml and clouds-public.yaml.
   * @default the folders of `candidates`
   */
  readonly folders?: readonly string[];
  /**
   * Folders in which OpenStack's provider looks for secure.yaml.
   * @default the standard folders among `folders`
   */
  readonly standard?: readonly string[];
}

/**
 * Returns the settings of a cloud in clouds.yaml. Includes values from the cloud's profile, its
 * region and secure.yaml.
 */
export function readCloudsFileSettings(
  name: string,
  candidates: readonly string[],
  {
    env = {},
    folders = candidates.map((path) => dirname(path)),
    standard = cloudsFolders("").filter((folder) => folders.includes(folder)),
  }: CloudsFileOptions = {},
): CloudSettings {
  const region = valueOf(env, "OS_REGION_NAME");
  const found = findCloudsEntry(name, { candidates, folders, standard, region });
  const { entry, where, path, seen } = found;
  const read = {
    entry: mergeCloudsEntries(entry, entryFromEnvironment(env)),
    file: entry,
    seen,
    where,
    env,
  };
  return { ...settingsFromEntry(name, read), file: resolve(path) };
}

const pemFiles = {
  cacert: { variable: "OS_CACERT", what: "cloud's certificate" },
  cert: { variable: "OS_CERT", what: "client certificate" },
  key: { variable: "OS_KEY", what: "client certificate's key" },
} as const;
type PemKey = keyof typeof pemFiles;

/**
 * Returns the path with `~`, `$NAME` and `${NAME}` replaced by the home directory and the values of
 * variables.
 */
function pathOf(kind: PemKey, written: string, env: NodeJS.ProcessEnv): string {
  return written
    .replace(/\$(?:(\w+)|\{(\w+)\})/g, (whole, plain?: string, braced?: string) => {
      const value = env[plain ?? braced ?? ""];
      if (value !== undefined) return value;
      throw new Failure(
        "INVALID_CONFIG",
        `The path of the ${pemFiles[kind].what} (${kind}) needs the variable ${whole}, which is not set.`,
        "Set it, or write the path without it.",
      );
    })
    .replace(/^~(?=\/|$)/, env["HOME"] ?? homedir());
}

/**
 * Returns whether the value is PEM text and not the path of a file. OpenStack's provider accepts
 * both.
 */
const isPem = (written: string): boolean => written.trimStart().startsWith("-----BEGIN");

const fileProblems: Readonly<Record<string, string>> = {
  ENOENT: "it does not exist",
  EISDIR: "it is a directory",
  EACCES: "you have no permission",
};

/**
 * Returns the PEM text that a setting contains or whose path it contains. Messages do not contain
 * the value, because a private key in another form would look like a path.
 */
function pemIn(kind: PemKey, written: string | undefined, env: NodeJS.ProcessEnv) {
  if (written === undefined || written === "") return undefined;
  if (isPem(written)) return written;
  const path = pathOf(kind, written, env);
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = isSystemError(error) ? error.code : undefined;
    const reason = fileProblems[code ?? ""] ?? `the system reports ${code ?? "no path"}`;
    const shown = kind !== "key" && /^[\w~./-]{1,255}$/.test(path) ? ` '${path}'` : "";
    throw new Failure(
      "INVALID_CONFIG",
      `The file${shown} of the ${pemFiles[kind].what} (${kind}) cannot be read: ${reason}.`,
      `Write the path of a readable file in PEM, or the text in PEM itself, or leave ${kind} out.`,
    );
  }
}

const interfaces = ["public", "internal", "admin"];

function interfaceOf({ interface: named, endpoint_type: old }: CloudsEntry, where: string): string {
  const found = (named ?? old ?? "public").replace(/URL$/, "");
  if (interfaces.includes(found)) return found;
  throw new CloudError(
    "configuration",
    `${where}: '${found}' is not an interface; write one of ${interfaces.join(", ")}.`,
  );
}

function authUrlIn(auth: CloudsAuth, where: string): string {
  const written = auth["auth_url"] ?? "";
  const refuse = (why: string): never => {
    throw new CloudError(
      "configuration",
      `${where}: auth_url '${removeUrlPassword(written)}' ${why}; write one like https://cloud.example.org:5000/v3.`,
    );
  };
  const url = URL.canParse(written) ? new URL(written) : undefined;
  if (!url || !["http:", "https:"].includes(url.protocol) || url.hostname === "")
    return refuse("is not the address of an identity service");
  if (/\/v2(\.\d+)?\/?$/.test(url.pathname))
    return refuse("is the address of version 2 of the Identity API, but version 3 is needed");
  return written;
}

interface Read {
  /** Entry from the files, with values that environment variables override. */
  readonly entry: CloudsEntry;
  /** Entry from the files, without values of environment variables. */
  readonly file: CloudsEntry;
  /** Entry as OpenStack's provider reads it from the files. */
  readonly seen: CloudsEntry;
  readonly where: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Returns whether OpenStack's provider finds the same file under this path. The provider runs in
 * another directory and does not replace variables in paths.
 */
const isPlain = (path: string): boolean =>
  !path.includes("$") && (isAbsolute(path) || path.startsWith("~"));

/**
 * Throws an error because the provider's secure.yaml has another value for a key of `auth`. With
 * that value, the provider would sign in to another cloud or as another user. No variable can
 * override the value.
 */
function refuseOther(key: string, where: string): never {
  throw new CloudError(
    "configuration",
    `${where}: OpenStack's provider would use another ${key}: it reads secure.yaml in ${cloudsFolders("").slice(1).join(" and ")} only.`,
    `Write ${key} in one place: there, or in clouds.yaml.`,
  );
}

/**
 * Returns environment variables for settings that OpenStack's provider does not read from
 * clouds.yaml: `interface`, `insecure`, a region from a list, paths with variables, relative paths,
 * and a secure.yaml next to the file in OS_CLIENT_CONFIG_FILE. The provider ignores a variable if
 * the entry has a value for the same setting.
 */
function unseenIn(
  { entry, file, seen: theirs, where, env }: Read,
  wanted: string,
): Record<string, string> {
  const seen = (valueOf(env, "OS_ENDPOINT_TYPE") ?? "public").replace(/URL$/, "");
  const region =
    file.regions === undefined || valueOf(env, "OS_REGION_NAME") !== undefined
      ? undefined
      : file.region_name;
  const paths = Object.entries(pemFiles).flatMap(([kind, { variable }]) => {
    const written = entry[kind as PemKey];
    return written === undefined || written === "" || isPem(written) || isPlain(written)
      ? []
      : [[variable, resolve(pathOf(kind as PemKey, written, env))] as const];
  });
  const auth = Object.entries(file.auth ?? {}).flatMap(([key, value]) => {
    const other = theirs.auth?.[key] ?? undefined;
    if (value === null || other === value) return [];
    if (other !== undefined) refuseOther(key, where);
    return [[`OS_${key.toUpperCase()}`, value] as const];
  });
  return {
    ...(seen !== wanted && { OS_ENDPOINT_TYPE: wanted }),
    ...(region !== undefined && { OS_REGION_NAME: region }),
    ...(entry.insecure === true && { OS_INSECURE: "true" }),
    ...Object.fromEntries([...paths, ...auth]),
  };
}

function settingsFromEntry(name: string, read: Read): CloudSettings {
  const { entry, where, env } = read;
  const auth = Object.fromEntries(
    Object.entries(entry.auth ?? {}).map(([key, value]) => [key, value ?? undefined]),
  );
  if (((entry.cert ?? "") === "") !== ((entry.key ?? "") === ""))
    throw new CloudError(
      "configuration",
      `${where}: cert or key is missing; name both, even if they are the same file.`,
    );
  requireUsableAuth(auth, where, (key) => nameAuthKey(key, where));
  const chosen = interfaceOf(entry, where);
  const credential = parseCredential(auth, entry.auth_type, where);
  requireOneLogin(read.seen.auth ?? {}, credential, where);
  return {
    name,
    authUrl: authUrlIn(auth, where),
    region: entry.region_name,
    interface: chosen,
    verify: (entry.verify ?? true) && entry.insecure !== true,
    ca: pemIn("cacert", entry.cacert, env),
    cert: pemIn("cert", entry.cert, env),
    key: pemIn("key", entry.key, env),
    credential,
    unseen: unseenIn(read, chosen),
    fileAuth: Object.entries(read.seen.auth ?? {}).flatMap(([key, value]) =>
      value === null || value === "" ? [] : [key],
    ),
  };
}

/** Returns the settings in the OS_* variables of an openrc file. */
export function readEnvironmentSettings(env: NodeJS.ProcessEnv): CloudSettings {
  const auth = Object.fromEntries(
    Object.entries(env)
      .filter(([key, value]) => key.startsWith("OS_") && value !== undefined && value !== "")
      .map(([key, value]) => [key.slice(3).toLowerCase(), value ?? null]),
  );
  const entry = {
    auth: { token: valueOf(env, "OS_AUTH_TOKEN") ?? null, ...auth },
    auth_type: valueOf(env, "OS_AUTH_TYPE"),
    region_name: valueOf(env, "OS_REGION_NAME"),
    ...entryFromEnvironment(env),
  };
  return settingsFromEntry("OS_AUTH_URL", {
    entry,
    file: {},
    seen: {},
    where: environmentSource,
    env,
  });
}

/** Advice for a user who has named no cloud. */
export const chooseCloudHint =
  "Name an entry of clouds.yaml for the stack (`pulumi config set openstack:cloud <name>`) or for your shell (OS_CLOUD), source an openrc file, or start the lab: npx stackadm-lab up.";

/**
 * Returns the settings of a cloud in clouds.yaml: the cloud named `cloud`, or else the cloud in
 * OS_CLOUD. If neither is set, returns the settings in OS_AUTH_URL and the other OS_* variables.
 */
export function findCloud(cloud: string | undefined, env: NodeJS.ProcessEnv): CloudSettings {
  const name = cloud ?? env["OS_CLOUD"];
  if (name !== undefined && name !== "")
    return readCloudsFileSettings(name, listCloudsFileCandidates(env), {
      env,
      folders: cloudsFolders(),
    });
  if (env["OS_AUTH_URL"] !== undefined) return readEnvironmentSettings(env);
  throw new CloudError(
    "configuration",
    "No cloud is configured: neither OS_CLOUD nor OS_AUTH_URL is set.",
    chooseCloudHint,
  );
}

/**
 * Returns the cloud that the environment names. Returns undefined if the settings are wrong, because
 * the login later reports wrong settings.
 */
export function findUsableCloud(env: NodeJS.ProcessEnv): CloudSettings | undefined {
  try {
    return findCloud(undefined, env);
  } catch (error) {
    if (error instanceof Failure) return undefined;
    throw error;
  }
}
