import { CloudError } from "../http/cloud-error.js";

/*
 * Keys of an entry in clouds.yaml, as openstacksdk reads them: options of `auth` may also stand next
 * to `auth`, and `-` in a key means `_`. OpenStack's provider reads only the options below `auth`
 * (see `unseenIn` in clouds-file.ts).
 */

/** Options of `auth` that this program reads. */
const readKeys = [
  ...["auth_url", "username", "user_id", "password", "token"],
  ...["project_id", "project_name", "tenant_id", "tenant_name"],
  ...["domain_id", "domain_name", "user_domain_id", "user_domain_name"],
  ...["project_domain_id", "project_domain_name"],
  ...["application_credential_id", "application_credential_name", "application_credential_secret"],
];

/** Options of `auth` that would select another project, each with what to do instead. */
const refusedKeys: Readonly<Record<string, string>> = {
  trust_id: "write an application credential of the trust's project in place of the trust",
  system_scope: "write project_name in its place, because a cluster belongs to a project",
};

/** Options of `auth` whose values are secrets. A secret may begin or end with a blank. */
const secretKeys: ReadonlySet<string> = new Set([
  "password",
  "token",
  "application_credential_secret",
]);

/** All options of `auth` that this program knows. */
export const authKeys: ReadonlySet<string> = new Set([...readKeys, ...Object.keys(refusedKeys)]);

type Fields = Readonly<Record<string, unknown>>;

const isMap = (value: unknown): value is Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Returns the fields with `_` in place of `-` in their keys. */
const withUnderscores = (fields: Fields): Fields =>
  Object.fromEntries(
    Object.entries(fields).map(([key, value]) => [key.replaceAll("-", "_"), value]),
  );

/**
 * Returns an entry with the options that stand next to `auth`. Throws if an option also stands in
 * `auth` with another value, because openstacksdk and OpenStack's provider would then use different
 * values.
 */
function optionsNextToAuth(fields: Fields, auth: Fields, where: string): Fields {
  const found = Object.entries(fields).filter(
    ([key, value]) => authKeys.has(key) && value !== null && value !== undefined,
  );
  for (const [key, value] of found)
    if (Object.hasOwn(auth, key) && String(auth[key]) !== String(value))
      throw new CloudError(
        "configuration",
        `${where}: ${key} has one value in auth and another value next to auth; write it once, in auth.`,
      );
  return Object.fromEntries(found);
}

/** Readers of clouds.yaml: this program, or OpenStack's provider. */
export type CloudsReader = "program" | "provider";

/**
 * Returns an entry as a reader understands it. This program moves options that stand next to `auth`
 * into `auth`. The provider ignores these options.
 *
 * @param where name and file of the entry, for messages
 */
export function placeAuthKeys(entry: unknown, reader: CloudsReader, where: string): unknown {
  if (!isMap(entry)) return entry;
  const { auth = {}, ...fields } = withUnderscores(entry);
  const others = Object.entries(fields).filter(
    ([key, value]) => !authKeys.has(key) && value !== null,
  );
  if (!isMap(auth)) return { ...Object.fromEntries(others), auth };
  const inside = withUnderscores(auth);
  const outside = reader === "program" ? optionsNextToAuth(fields, inside, where) : {};
  return { ...Object.fromEntries(others), auth: { ...outside, ...inside } };
}

/**
 * Throws if an option of `auth` is not supported, or if its value has a blank or a line break that
 * Keystone would take as a part of the value.
 *
 * @param nameOf returns the name of the option in messages
 */
export function requireUsableAuth(
  auth: Readonly<Record<string, string | undefined>>,
  where: string,
  nameOf: (key: string) => string,
): void {
  for (const [key, value = ""] of Object.entries(auth)) {
    const refuse = (problem: string): never => {
      throw new CloudError("configuration", `${where}: ${nameOf(key)} ${problem}.`);
    };
    const remedy = refusedKeys[key];
    if (remedy !== undefined && value !== "") refuse(`is not supported; ${remedy}`);
    const untrimmed = secretKeys.has(key) ? /^[\r\n]|[\r\n]$/ : /^\s|\s$/;
    if (!authKeys.has(key) || !untrimmed.test(value)) continue;
    const extra = /[\r\n]/.test(value) ? "line break" : "blank";
    refuse(`begins or ends with a ${extra}; delete the ${extra}`);
  }
}
