import { CloudError } from "../http/cloud-error.js";
import { findUsableCloud, type CloudSettings } from "./clouds-file.js";
import { getProviderEnvironment, isLoginVariable } from "./provider-environment.js";
import {
  getProviderDecision,
  isLoginSetting,
  listProviderSettings,
  loginKinds,
  nameSettings,
  requireUsableProvider,
  textOfSetting,
  type ProviderKey,
  type ProviderValues,
} from "./provider-settings.js";

/*
 * One connection for each stack: settings of OpenStack's provider override the environment, value by
 * value, as in the provider (terraform-provider-openstack 3.4.0 and 1.54.1). Source of the order:
 * the provider takes each missing setting from its variable. With a cloud, it then takes the login
 * from the entry in clouds.yaml, and only values that the entry lacks from variables. Settings of
 * the login are ignored. See docs/decisions/0071-one-connection.md.
 */

/** Settings of which the cloud needs only one: the provider sends both, or prefers the other one. */
const alternatives: readonly (readonly ProviderKey[])[] = [
  ["userName", "userId"],
  ["tenantName", "tenantId"],
  ["userDomainName", "userDomainId"],
  ["projectDomainName", "projectDomainId"],
  ["domainName", "domainId"],
  ["applicationCredentialName", "applicationCredentialId"],
];

const defaultSource = "the provider's arguments";

const isSet = (value: string | undefined): value is string => value !== undefined && value !== "";

const variablesOf = (key: ProviderKey): readonly string[] => {
  const decision = getProviderDecision(key);
  return decision.kind === "connection" ? decision.variables : [];
};

/** Returns the settings that have no place next to the given settings. */
function displacedBy(keys: ReadonlySet<ProviderKey>): ProviderKey[] {
  const among = (group: readonly ProviderKey[]): ProviderKey[] =>
    group.some((key) => keys.has(key)) ? group.filter((key) => !keys.has(key)) : [];
  const used = loginKinds.filter((kind) => kind.some((key) => keys.has(key)));
  const otherKinds =
    used.length === 0 ? [] : loginKinds.filter((kind) => !used.includes(kind)).flat();
  const domains: ProviderKey[] = keys.has("userId") ? ["userDomainId", "userDomainName"] : [];
  return [...alternatives.flatMap(among), ...otherKinds, ...domains].filter(
    (key) => !keys.has(key),
  );
}

export interface ConnectionOptions {
  /** Names of settings that are encrypted. Their values are unknown. @default none */
  readonly encrypted?: readonly ProviderKey[];
  /** Name of the file with the settings, for messages. @default "the provider's arguments" */
  readonly where?: string;
}

/** Connection of a stack. */
export interface Connection {
  /**
   * Environment variables that lead to the cloud, project and login of the stack, for all functions
   * that read only an environment. Contains no variable of an encrypted setting.
   */
  readonly env: NodeJS.ProcessEnv;
  /** Names of variables of the given environment that the settings replace, sorted. */
  readonly replaced: readonly string[];
}

/**
 * Returns the connection that results from settings of the provider and environment variables. The
 * settings win. Throws if a setting is not usable, or if the provider would use the settings of one
 * cloud with the login of another.
 */
export function resolveConnection(
  provider: ProviderValues,
  env: NodeJS.ProcessEnv,
  { encrypted = [], where = defaultSource }: ConnectionOptions = {},
): Connection {
  requireUsableProvider({ plain: provider, encrypted }, where);
  const written = listProviderSettings(provider).filter(([key]) => variablesOf(key).length > 0);
  const keys = new Set([...written.map(([key]) => key), ...encrypted]);
  if (keys.size === 0) return { env, replaced: [] };
  requireLoginOfSettings(keys, provider, { env, where });
  const removed = new Set([...keys, ...displacedBy(keys)].flatMap(variablesOf));
  if (loginKinds.flat().some((key) => keys.has(key))) removed.add("OS_AUTH_TYPE");
  // The provider would take the whole login from clouds.yaml.
  if (keys.has("authUrl")) removed.add("OS_CLOUD");
  const added = written.map(([key, value]) => [variablesOf(key)[0] ?? "", value] as const);
  const kept = Object.entries(env).filter(([name]) => !removed.has(name));
  const resolved = Object.fromEntries([...kept, ...added]);
  requireOneCloud(provider, { env, resolved, removed, where });
  const isOther = (name: string): boolean => isSet(env[name]) && env[name] !== resolved[name];
  return { env: resolved, replaced: [...removed].filter(isOther).sort() };
}

interface Circumstances {
  readonly env: NodeJS.ProcessEnv;
  readonly where: string;
}

/** Throws if OS_CLOUD makes the provider ignore settings of a login that names no cloud. */
function requireLoginOfSettings(
  keys: ReadonlySet<ProviderKey>,
  { cloud, authUrl }: ProviderValues,
  { env, where }: Circumstances,
): void {
  const ignored = [...keys].filter(isLoginSetting);
  const named = env["OS_CLOUD"];
  if (!isSet(named) || ignored.length === 0 || cloud !== undefined || authUrl !== undefined) return;
  throw new CloudError(
    "configuration",
    `${where}: ${nameSettings(ignored)} would be ignored by OpenStack's provider, because OS_CLOUD=${named} names an entry of clouds.yaml with its own login.`,
    `Write openstack:authUrl, too, or delete ${nameSettings(ignored)}, or unset OS_CLOUD.`,
  );
}

/** Returns an address of Keystone in one spelling. */
const placeOf = (url: string): string => url.replace(/\/+$/, "").replace(/\/v3$/, "");

/** Throws if a login of the environment would be sent to the cloud that the settings name. */
function requireOneCloud(
  { authUrl }: ProviderValues,
  {
    env,
    resolved,
    removed,
    where,
  }: Circumstances & {
    readonly resolved: NodeJS.ProcessEnv;
    readonly removed: ReadonlySet<string>;
  },
): void {
  const other = env["OS_AUTH_URL"];
  if (authUrl === undefined || !isSet(other)) return;
  const url = textOfSetting(authUrl);
  if (placeOf(other) === placeOf(url)) return;
  const mixed = Object.keys(getProviderEnvironment(resolved)).filter(
    (name) => isLoginVariable(name) && isSet(env[name]) && !removed.has(name),
  );
  if (mixed.length === 0) return;
  throw new CloudError(
    "configuration",
    `${where}: openstack:authUrl is ${url}, but ${mixed.sort().join(", ")} of the environment belong to OS_AUTH_URL=${other}.`,
    `Unset the variables of this other cloud (\`unset OS_AUTH_URL ${mixed.join(" ")}\`), or write the whole login into the settings.`,
  );
}

/** Variables that complete the login of an entry in clouds.yaml, each with the keys of `auth`. */
const completedBy: readonly (readonly [variables: RegExp, keys: readonly string[]])[] = [
  [/^OS_(AUTH_)?TOKEN$/, ["token"]],
  [/^OS_USERNAME$/, ["username", "user_id"]],
  [/^OS_USER_ID$/, ["user_id"]],
  [/^OS_PASSWORD$/, ["password"]],
  [/^OS_(TENANT|PROJECT)_ID$/, ["project_id"]],
  [/^OS_(TENANT|PROJECT)_NAME$/, ["project_name", "project_id"]],
  [/^OS_DOMAIN_ID$/, ["domain_id"]],
  [/^OS_DOMAIN_NAME$/, ["domain_name"]],
  [/^OS_USER_DOMAIN_ID$/, ["user_domain_id"]],
  [/^OS_USER_DOMAIN_NAME$/, ["user_domain_name"]],
  [/^OS_PROJECT_DOMAIN_ID$/, ["project_domain_id"]],
  [/^OS_PROJECT_DOMAIN_NAME$/, ["project_domain_name"]],
  [/^OS_APPLICATION_CREDENTIAL_ID$/, ["application_credential_id"]],
  [
    /^OS_APPLICATION_CREDENTIAL_NAME$/,
    ["application_credential_name", "application_credential_id"],
  ],
  [/^OS_APPLICATION_CREDENTIAL_SECRET$/, ["application_credential_secret"]],
];

/** Variables that change the login even next to an application credential. */
const otherLogins = /^OS_(PASSWORD|(AUTH_)?TOKEN|APPLICATION_CREDENTIAL_\w+)$/;

/** Returns whether the provider would complete an entry of clouds.yaml with the variable. */
function completes({ credential, fileAuth }: CloudSettings, name: string): boolean {
  const keys = completedBy.find(([variables]) => variables.test(name))?.[1];
  if (keys === undefined) return false;
  if (credential.kind === "application" && !otherLogins.test(name)) return false;
  return !keys.some((key) => fileAuth.includes(key));
}

/**
 * Returns the variables of a login that the provider would use in this environment, although the
 * connection does not contain them.
 */
function findMixedVariables(
  provider: ProviderValues,
  env: NodeJS.ProcessEnv,
  resolved: NodeJS.ProcessEnv,
): string[] {
  const written = new Set(listProviderSettings(provider).flatMap(([key]) => variablesOf(key)));
  const clean = getProviderEnvironment(resolved);
  const cloud = findUsableCloud(resolved);
  return Object.entries(env)
    .filter(([name, value]) => isSet(value) && isLoginVariable(name) && clean[name] !== value)
    .map(([name]) => name)
    .filter((name) =>
      cloud?.file === undefined ? !written.has(name) : !(name in clean) && completes(cloud, name),
    )
    .sort();
}

/**
 * Throws if OpenStack's provider, started in this environment with these settings, would sign in to
 * another cloud or project than {@link resolveConnection} says. The commands start the provider in an
 * environment in which it cannot; `pulumi` starts it in the user's.
 */
export function requireSameConnection(
  provider: ProviderValues,
  env: NodeJS.ProcessEnv,
  where = defaultSource,
): void {
  const { env: resolved, replaced } = resolveConnection(provider, env, { where });
  const named = env["OS_CLOUD"] ?? "";
  if (provider.cloud === undefined && replaced.includes("OS_CLOUD"))
    throw new CloudError(
      "configuration",
      `${where}: openstack:authUrl would be ignored by OpenStack's provider, because OS_CLOUD=${named} names an entry of clouds.yaml with its own login.`,
      "Unset OS_CLOUD, and run the same command again.",
    );
  const mixed = findMixedVariables(provider, env, resolved);
  if (mixed.length === 0) return;
  throw new CloudError(
    "configuration",
    `OpenStack's provider would combine ${mixed.join(", ")} of the environment with ${describeLogin(provider, resolved, where)}, and might use another project or user.`,
    `Run \`unset ${mixed.join(" ")}\` and the same command again.`,
  );
}

/** Returns the source of the login for a message. */
function describeLogin(
  provider: ProviderValues,
  { OS_CLOUD: cloud }: NodeJS.ProcessEnv,
  where: string,
): string {
  if (isSet(cloud))
    return `the login of cloud '${cloud}' (${provider.cloud === undefined ? "OS_CLOUD" : `openstack:cloud in ${where}`})`;
  const keys = listProviderSettings(provider).map(([key]) => key);
  return keys.length === 0
    ? "the other variables of the login"
    : `${nameSettings(keys)} in ${where}`;
}
