import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, join } from "node:path";
import { parse } from "yaml";
import { z } from "zod";
import { Failure } from "../base/failure.js";
import { CloudError } from "./cloud-error.js";

/** How to reach one cloud: what clouds.yaml or the OS_* variables say, in one shape. */
export interface CloudSettings {
  /** What the person calls it: the name in clouds.yaml, or "OS_AUTH_URL". */
  readonly name: string;
  readonly authUrl: string;
  readonly region?: string;
  /** Which endpoints of the catalog to use. Default: public. */
  readonly interface: string;
  /** False accepts any certificate. */
  readonly verify: boolean;
  /** PEM of the private certificate authority. */
  readonly ca?: string;
  readonly credential: Credential;
}

export type Credential =
  | {
      readonly kind: "password";
      readonly username?: string;
      readonly userId?: string;
      readonly userDomain: Domain;
      readonly password: string;
      readonly scope: Scope;
    }
  | {
      readonly kind: "application";
      readonly id?: string;
      readonly name?: string;
      readonly username?: string;
      readonly userDomain: Domain;
      readonly secret: string;
    }
  | { readonly kind: "token"; readonly token: string; readonly scope: Scope };

export type Domain = { readonly id: string } | { readonly name: string };

export interface Scope {
  readonly projectId?: string;
  readonly projectName?: string;
  readonly projectDomain: Domain;
}

const scalar = z.union([z.string(), z.number()]).transform(String);
const entrySchema = z.looseObject({
  auth: z.record(z.string(), scalar.nullable()).optional(),
  auth_type: z.string().optional(),
  region_name: scalar.optional(),
  interface: z.string().optional(),
  endpoint_type: z.string().optional(),
  verify: z.boolean().optional(),
  insecure: z.boolean().optional(),
  cacert: z.string().optional(),
});
type Entry = z.infer<typeof entrySchema>;
const fileSchema = z.looseObject({ clouds: z.record(z.string(), entrySchema).optional() });

/** Where clouds.yaml may lie, the first found wins: the order of openstacksdk. */
export function cloudsFileCandidates(
  env: NodeJS.ProcessEnv,
  cwd = process.cwd(),
  home = homedir(),
): string[] {
  const named = env["OS_CLIENT_CONFIG_FILE"];
  return [
    ...(named === undefined ? [] : [named]),
    join(cwd, "clouds.yaml"),
    join(home, ".config", "openstack", "clouds.yaml"),
    "/etc/openstack/clouds.yaml",
  ];
}

function readClouds(path: string): Record<string, Entry> {
  const found = fileSchema.safeParse(parse(readFileSync(path, "utf8")) ?? {});
  if (found.success) return found.data.clouds ?? {};
  throw new CloudError(
    "configuration",
    `${path} is not a clouds.yaml: ${z.prettifyError(found.error).replaceAll("\n", " ")}`,
  );
}

function merged(plain: Entry, secret: Entry | undefined): Entry {
  return { ...plain, ...secret, auth: { ...plain.auth, ...secret?.auth } };
}

/** The settings of a cloud named in clouds.yaml, with secure.yaml laid over it. */
export function settingsFromFile(name: string, candidates: readonly string[]): CloudSettings {
  const path = candidates.find((candidate) => existsSync(candidate));
  if (path === undefined) {
    throw new CloudError(
      "configuration",
      `Cloud '${name}' is asked for, but there is no clouds.yaml in ${candidates.map((c) => dirname(c)).join(", ")}.`,
      "Put one there, or name it with OS_CLIENT_CONFIG_FILE.",
    );
  }
  const clouds = readClouds(path);
  const entry = clouds[name];
  if (!entry) {
    const known = Object.keys(clouds).join(", ") || "none";
    throw new CloudError(
      "configuration",
      `There is no cloud '${name}' in ${path}.`,
      `It holds: ${known}. Set OS_CLOUD to one of them.`,
    );
  }
  const securePath = join(dirname(path), "secure.yaml");
  const secure = existsSync(securePath) ? readClouds(securePath)[name] : undefined;
  return settingsFromEntry(name, merged(entry, secure), `${name} in ${path}`);
}

function need(auth: Record<string, string | undefined>, key: string, where: string): string {
  const value = auth[key];
  if (value !== undefined && value !== "") return value;
  throw new CloudError("configuration", `${where}: ${key} is missing.`);
}

const domain = (auth: Record<string, string | undefined>, kind: "user" | "project"): Domain => {
  const id = auth[`${kind}_domain_id`] ?? auth["domain_id"];
  if (id !== undefined) return { id };
  const name = auth[`${kind}_domain_name`] ?? auth["domain_name"];
  return name === undefined ? { id: "default" } : { name };
};

const scopeOf = (auth: Record<string, string | undefined>): Scope => ({
  projectId: auth["project_id"] ?? auth["tenant_id"],
  projectName: auth["project_name"] ?? auth["tenant_name"],
  projectDomain: domain(auth, "project"),
});

function credentialOf(
  auth: Record<string, string | undefined>,
  type: string | undefined,
  where: string,
): Credential {
  if (
    type?.includes("applicationcredential") ??
    auth["application_credential_secret"] !== undefined
  )
    return {
      kind: "application",
      id: auth["application_credential_id"],
      name: auth["application_credential_name"],
      username: auth["username"],
      userDomain: domain(auth, "user"),
      secret: need(auth, "application_credential_secret", where),
    };
  if (type?.includes("token") ?? (auth["token"] !== undefined && auth["password"] === undefined))
    return { kind: "token", token: need(auth, "token", where), scope: scopeOf(auth) };
  if (auth["user_id"] === undefined) need(auth, "username", where);
  return {
    kind: "password",
    username: auth["username"],
    userId: auth["user_id"],
    userDomain: domain(auth, "user"),
    password: need(auth, "password", where),
    scope: scopeOf(auth),
  };
}

/** The authority's certificate of a file; `~` is the operator's home. */
function certificateIn(file: string | undefined): string | undefined {
  if (file === undefined || file === "") return undefined;
  try {
    return readFileSync(file.replace(/^~(?=\/)/, homedir()), "utf8");
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new Failure(
      "INVALID_CONFIG",
      `The cloud's certificate (cacert) cannot be read: ${reason}`,
      "Name a readable file of PEM certificates, or leave cacert out.",
    );
  }
}

function settingsFromEntry(name: string, entry: Entry, where: string): CloudSettings {
  const auth = Object.fromEntries(
    Object.entries(entry.auth ?? {}).map(([key, value]) => [key, value ?? undefined]),
  );
  return {
    name,
    authUrl: need(auth, "auth_url", where),
    region: entry.region_name,
    interface: (entry.interface ?? entry.endpoint_type ?? "public").replace(/URL$/, ""),
    verify: (entry.verify ?? true) && entry.insecure !== true,
    ca: certificateIn(entry.cacert),
    credential: credentialOf(auth, entry.auth_type, where),
  };
}

/** The settings the OS_* variables of an openrc file give. */
export function settingsFromEnvironment(env: NodeJS.ProcessEnv): CloudSettings {
  const auth = Object.fromEntries(
    Object.entries(env)
      .filter(([key, value]) => key.startsWith("OS_") && value !== undefined && value !== "")
      .map(([key, value]) => [key.slice(3).toLowerCase(), value]),
  );
  return settingsFromEntry(
    "OS_AUTH_URL",
    {
      auth: Object.fromEntries(Object.entries(auth).map(([key, value]) => [key, value ?? null])),
      auth_type: env["OS_AUTH_TYPE"],
      region_name: env["OS_REGION_NAME"],
      interface: env["OS_INTERFACE"] ?? env["OS_ENDPOINT_TYPE"],
      insecure: env["OS_INSECURE"] === "true" || env["OS_INSECURE"] === "1",
      cacert: env["OS_CACERT"],
    },
    "environment",
  );
}

/** Finds the cloud: `cloud`, else OS_CLOUD from clouds.yaml, else OS_AUTH_URL and its companions. */
export function findCloud(cloud: string | undefined, env: NodeJS.ProcessEnv): CloudSettings {
  const name = cloud ?? env["OS_CLOUD"];
  if (name !== undefined && name !== "") return settingsFromFile(name, cloudsFileCandidates(env));
  if (env["OS_AUTH_URL"] !== undefined) return settingsFromEnvironment(env);
  throw new CloudError(
    "configuration",
    "No cloud is configured: neither OS_CLOUD nor OS_AUTH_URL is set.",
    "Set OS_CLOUD to a name in clouds.yaml, source an openrc file, or start the lab: npx stackadm lab up.",
  );
}
