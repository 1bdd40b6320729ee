import { CloudError } from "../http/cloud-error.js";

/*
 * Settings of OpenStack's provider: `openstack:*` in a stack's configuration, and the arguments of an
 * explicit `openstack.Provider`. The names are those of the plugins 3.15.2 and 5.5.1. Each key has a
 * decision in `decisions`; a test compares the keys with the schemas of both plugins.
 */

/** Decision of the program and the commands about a setting of the provider. */
type Decision =
  /**
   * The setting belongs to the connection. The first variable is the variable of the same meaning;
   * the setting overrides all of them. `login`: an entry of clouds.yaml contains this value, and the
   * provider then ignores the setting.
   */
  | { readonly kind: "connection"; readonly variables: readonly string[]; readonly login: boolean }
  /** Only the provider uses the setting. It does not change the cloud, the project or the login. */
  | { readonly kind: "passed on" }
  /** The setting has only the allowed value, if there is one. */
  | { readonly kind: "refused"; readonly allowed?: "true" | "false"; readonly reason: string };

const login = (...variables: readonly string[]): Decision => ({
  kind: "connection",
  variables,
  login: true,
});
const transport = (...variables: readonly string[]): Decision => ({
  kind: "connection",
  variables,
  login: false,
});
const passedOn: Decision = { kind: "passed on" };
const refused = (reason: string, allowed?: "true" | "false"): Decision => ({
  kind: "refused",
  reason,
  ...(allowed !== undefined && { allowed }),
});

const decisions = {
  allowReauth: refused("a run would fail when its token expires", "true"),
  applicationCredentialId: login("OS_APPLICATION_CREDENTIAL_ID"),
  applicationCredentialName: login("OS_APPLICATION_CREDENTIAL_NAME"),
  applicationCredentialSecret: login("OS_APPLICATION_CREDENTIAL_SECRET"),
  authUrl: login("OS_AUTH_URL"),
  cacertFile: transport("OS_CACERT"),
  cert: transport("OS_CERT"),
  cloud: transport("OS_CLOUD"),
  defaultDomain: login("OS_DEFAULT_DOMAIN"),
  delayedAuth: refused("the provider would search for endpoints in another way", "true"),
  disableNoCacheHeader: passedOn,
  domainId: login("OS_DOMAIN_ID"),
  domainName: login("OS_DOMAIN_NAME"),
  enableLogging: passedOn,
  endpointOverrides: refused("all other requests use the endpoints in the cloud's catalog"),
  endpointType: transport("OS_ENDPOINT_TYPE", "OS_INTERFACE"),
  insecure: transport("OS_INSECURE"),
  key: transport("OS_KEY"),
  maxRetries: passedOn,
  password: login("OS_PASSWORD"),
  projectDomainId: login("OS_PROJECT_DOMAIN_ID"),
  projectDomainName: login("OS_PROJECT_DOMAIN_NAME"),
  region: transport("OS_REGION_NAME"),
  swauth: refused("Swift's old login reaches no other service", "false"),
  systemScope: refused("a cluster belongs to a project, so write openstack:tenantName", "false"),
  tenantId: login("OS_PROJECT_ID", "OS_TENANT_ID"),
  tenantName: login("OS_PROJECT_NAME", "OS_TENANT_NAME"),
  token: login("OS_TOKEN", "OS_AUTH_TOKEN"),
  useOctavia: refused("the program needs Octavia", "true"),
  userDomainId: login("OS_USER_DOMAIN_ID"),
  userDomainName: login("OS_USER_DOMAIN_NAME"),
  userId: login("OS_USER_ID"),
  userName: login("OS_USERNAME"),
} as const satisfies Readonly<Record<string, Decision>>;

/** Name of a setting of OpenStack's provider. */
export type ProviderKey = keyof typeof decisions;

/** All names of settings of OpenStack's provider. */
export const providerKeys = Object.keys(decisions) as readonly ProviderKey[];

type SwitchKey =
  | "allowReauth"
  | "delayedAuth"
  | "disableNoCacheHeader"
  | "enableLogging"
  | "insecure"
  | "swauth"
  | "systemScope"
  | "useOctavia";

/**
 * Plain settings of OpenStack's provider, with the names and types of `openstack.ProviderArgs`. Each
 * key is optional; a missing value comes from its OS_* variable. Changing a value changes the
 * connection of the next run. A cluster cannot change its cloud, project or region.
 */
export type ProviderSettings = Readonly<
  Partial<
    Record<Exclude<ProviderKey, SwitchKey | "endpointOverrides" | "maxRetries">, string> &
      Record<SwitchKey, boolean> & {
        maxRetries: number;
        endpointOverrides: Readonly<Record<string, string>>;
      }
  >
>;

/** Settings of OpenStack's provider from any source. Pulumi's configuration contains only texts. */
export type ProviderValues = Readonly<
  Partial<Record<ProviderKey, string | number | boolean | Readonly<Record<string, string>>>>
>;

/** Returns the decision about a setting. */
export const getProviderDecision = (key: ProviderKey): Decision => decisions[key];

/** Settings whose values are secrets. In a stack's configuration, they must be encrypted. */
export const secretProviderKeys: ReadonlySet<ProviderKey> = new Set([
  "applicationCredentialSecret",
  "password",
  "token",
]);

/** Settings of each kind of login. A stack has settings of one kind. */
export const loginKinds: readonly (readonly ProviderKey[])[] = [
  ["password"],
  ["token"],
  ["applicationCredentialId", "applicationCredentialName", "applicationCredentialSecret"],
];

/** Settings that the commands need before they can decrypt anything. */
const openKeys: ReadonlySet<ProviderKey> = new Set(["cloud", "authUrl"]);

/** Settings with the path of a file in PEM, or with the text in PEM. */
export const pemProviderKeys: ReadonlySet<ProviderKey> = new Set(["cacertFile", "cert", "key"]);

/** Settings as a source contains them. */
export interface WrittenProviderSettings {
  readonly plain: ProviderValues;
  /** Names of the settings whose values are encrypted. Their values are not in `plain`. */
  readonly encrypted: readonly ProviderKey[];
}

/** Returns the problem of one setting, or undefined. */
function findProblem(key: ProviderKey, value: string): string | undefined {
  if (value === "") return `is empty; delete it: \`pulumi config rm openstack:${key}\``;
  const decision = getProviderDecision(key);
  if (decision.kind !== "refused" || value === decision.allowed) return undefined;
  return decision.allowed === undefined
    ? `is not supported, because ${decision.reason}; delete it`
    : `can only be ${decision.allowed}, because ${decision.reason}; delete it`;
}

/** Returns a value as the text that the provider gets. */
export const textOfSetting = (value: NonNullable<ProviderValues[ProviderKey]>): string =>
  typeof value === "object" ? JSON.stringify(value) : String(value);

/** Returns the settings that have a value, as texts. */
export const listProviderSettings = (
  provider: ProviderValues,
): readonly (readonly [ProviderKey, string])[] =>
  providerKeys.flatMap((key) => {
    const value = provider[key];
    return value === undefined ? [] : [[key, textOfSetting(value)] as const];
  });

/** Returns whether the setting is a part of the login, which an entry of clouds.yaml contains, too. */
export function isLoginSetting(key: ProviderKey): boolean {
  const decision = getProviderDecision(key);
  return decision.kind === "connection" && decision.login;
}

/** Returns the problems of settings that do not fit together. */
function findConflicts(plain: ProviderValues, keys: readonly ProviderKey[]): string[] {
  const logins = keys.filter(isLoginSetting);
  if (plain.cloud !== undefined && logins.length > 0)
    return [
      `${nameSettings(logins)} would be ignored by OpenStack's provider, which takes the login from the entry of openstack:cloud in clouds.yaml; delete openstack:cloud, or the others`,
    ];
  const used = loginKinds.map((kind) => kind.filter((key) => keys.includes(key)));
  return used.filter((kind) => kind.length > 0).length < 2
    ? []
    : [`${nameSettings(used.flat())} belong to different logins; keep one of them`];
}

/**
 * Throws one error with all settings that the program and the commands cannot use in the same way as
 * the provider.
 *
 * @param where name of the file with the settings, for messages
 */
export function requireUsableProvider(
  { plain, encrypted }: WrittenProviderSettings,
  where: string,
): void {
  const written = listProviderSettings(plain);
  const needsPlainText = (key: ProviderKey): boolean =>
    openKeys.has(key) || getProviderDecision(key).kind !== "connection";
  const problems = [
    ...written.flatMap(([key, value]) => {
      const problem = findProblem(key, value);
      return problem === undefined ? [] : [`openstack:${key} ${problem}`];
    }),
    ...encrypted
      .filter(needsPlainText)
      .map((key) => `openstack:${key} is no secret; write it in plain text`),
    ...findConflicts(plain, [...written.map(([key]) => key), ...encrypted]),
  ];
  if (problems.length > 0)
    throw new CloudError(
      "configuration",
      `${where}: ${problems.join("; ")}.`,
      "Correct the settings and run the same command again; nothing was changed.",
    );
}

/**
 * Throws if a secret is written in plain text.
 *
 * @param keys names of the settings that are not encrypted
 */
export function requireEncryptedSecrets(plain: ProviderValues, where: string): void {
  const open = listProviderSettings(plain)
    .filter(([key, value]) => secretProviderKeys.has(key) || value.includes("PRIVATE KEY-----"))
    .map(([key]) => key);
  if (open.length === 0) return;
  throw new CloudError(
    "configuration",
    `${where}: ${nameSettings(open)} must be encrypted, because the file is for everyone who works on the stack.`,
    open.map((key) => `\`pulumi config set --secret openstack:${key}\``).join(" and ") +
      " asks for the value and encrypts it.",
  );
}

/** Returns the names of settings in a message. */
export const nameSettings = (keys: readonly ProviderKey[]): string =>
  keys.map((key) => `openstack:${key}`).join(", ");
