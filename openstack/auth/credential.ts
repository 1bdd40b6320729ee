import { CloudError } from "../http/cloud-error.js";

/** Credential for the login to Keystone. */
export type Credential =
  | {
      readonly kind: "password";
      readonly username?: string;
      readonly userId?: string;
      readonly userDomain: KeystoneDomain;
      readonly password: string;
      readonly scope: CredentialScope;
    }
  | {
      readonly kind: "application";
      readonly id?: string;
      readonly name?: string;
      readonly username?: string;
      readonly userDomain: KeystoneDomain;
      readonly secret: string;
    }
  | { readonly kind: "token"; readonly token: string; readonly scope: CredentialScope };

export type KeystoneDomain = { readonly id: string } | { readonly name: string };

export interface CredentialScope {
  readonly projectId?: string;
  readonly projectName?: string;
  readonly projectDomain: KeystoneDomain;
}

/** Keys of `auth` in clouds.yaml, also for values from OS_* variables. */
export type CloudsAuth = Readonly<Record<string, string | undefined>>;

/**
 * Kind of credential for each accepted `auth_type`. OpenStack's provider also accepts the names
 * that begin with `v3`.
 */
const kinds: ReadonlyMap<string, Credential["kind"]> = new Map([
  ["password", "password"],
  ["v3password", "password"],
  ["token", "token"],
  ["v3token", "token"],
  ["v3applicationcredential", "application"],
]);

function kindOf(auth: CloudsAuth, type: string | undefined, where: string): Credential["kind"] {
  if (type === undefined || type === "") {
    if (auth["application_credential_secret"] !== undefined) return "application";
    return auth["token"] !== undefined && auth["password"] === undefined ? "token" : "password";
  }
  const kind = kinds.get(type);
  if (kind !== undefined) return kind;
  throw new CloudError(
    "configuration",
    `${where}: auth_type '${type}' is not supported; write one of ${[...kinds.keys()].join(", ")}.`,
    "An application credential works for users who sign in another way: `openstack application credential create`.",
  );
}

const isThere = (auth: CloudsAuth, key: string): boolean => (auth[key] ?? "") !== "";

/** Returns the value of a key. `requireComplete` has checked that required keys have a value. */
const valueOf = (auth: CloudsAuth, key: string): string => auth[key] ?? "";

/** Returns the missing keys. Each element lists alternatives: one of these keys is enough. */
function missing(auth: CloudsAuth, kind: Credential["kind"]): readonly (readonly string[])[] {
  const user = ["username", "user_id"];
  const byName = !isThere(auth, "application_credential_id");
  const wanted: Readonly<Record<Credential["kind"], readonly (readonly string[])[]>> = {
    password: [["auth_url"], user, ["password"]],
    token: [["auth_url"], ["token"]],
    application: [
      ["auth_url"],
      ["application_credential_id", "application_credential_name"],
      ["application_credential_secret"],
      // The name of an application credential is unique only among the credentials of one user.
      ...(byName && isThere(auth, "application_credential_name") ? [["username"]] : []),
    ],
  };
  return wanted[kind].filter((keys) => !keys.some((key) => isThere(auth, key)));
}

/**
 * Value of `where` for settings from OS_* variables. Messages then contain the variables' names.
 */
export const environmentSource = "environment";

/** Returns the name of a key of `auth` in messages. */
export const nameAuthKey = (key: string, where: string): string =>
  where === environmentSource ? `OS_${key.toUpperCase()}` : key;

function requireComplete(auth: CloudsAuth, kind: Credential["kind"], where: string): void {
  const lacks = missing(auth, kind).map((keys) =>
    keys.map((key) => nameAuthKey(key, where)).join(" or "),
  );
  if (lacks.length === 0) return;
  const verb = lacks.length === 1 ? "is" : "are";
  throw new CloudError("configuration", `${where}: ${lacks.join(", ")} ${verb} missing.`);
}

const domain = (auth: CloudsAuth, kind: "user" | "project"): KeystoneDomain => {
  const id = auth[`${kind}_domain_id`] ?? auth["domain_id"];
  if (id !== undefined) return { id };
  const name = auth[`${kind}_domain_name`] ?? auth["domain_name"];
  return name === undefined ? { id: auth["default_domain"] ?? "default" } : { name };
};

const scopeOf = (auth: CloudsAuth): CredentialScope => ({
  projectId: auth["project_id"] ?? auth["tenant_id"],
  projectName: auth["project_name"] ?? auth["tenant_name"],
  projectDomain: domain(auth, "project"),
});

/**
 * Returns the credential in `auth`.
 *
 * @param type value of `auth_type`. Undefined: the keys in `auth` determine the kind
 * @param where source of `auth`, for messages
 */
export function parseCredential(
  auth: CloudsAuth,
  type: string | undefined,
  where: string,
): Credential {
  const kind = kindOf(auth, type, where);
  requireComplete(auth, kind, where);
  if (kind === "application")
    return {
      kind,
      id: auth["application_credential_id"],
      name: auth["application_credential_name"],
      username: auth["username"],
      userDomain: domain(auth, "user"),
      secret: valueOf(auth, "application_credential_secret"),
    };
  if (kind === "token") return { kind, token: valueOf(auth, "token"), scope: scopeOf(auth) };
  return {
    kind,
    username: auth["username"],
    userId: auth["user_id"],
    userDomain: domain(auth, "user"),
    password: valueOf(auth, "password"),
    scope: scopeOf(auth),
  };
}

const applicationKeys = [
  "application_credential_id",
  "application_credential_name",
  "application_credential_secret",
];

/** Keys of `auth` with which OpenStack's provider does not sign in with the kind of credential. */
const disturbingKeys: Readonly<Record<Credential["kind"], readonly string[]>> = {
  // The provider prefers a token, and requests no project next to an application credential.
  password: ["token", ...applicationKeys],
  application: ["token", "password"],
  token: applicationKeys,
};

/**
 * Throws if OpenStack's provider would sign in with another credential than this program. Its login
 * may lead to another project, or to none.
 *
 * @param auth `auth` as the provider reads it
 */
export function requireOneLogin(
  auth: Readonly<Record<string, string | null | undefined>>,
  { kind }: Credential,
  where: string,
): void {
  const found = disturbingKeys[kind].filter((key) => (auth[key] ?? "") !== "");
  if (found.length === 0) return;
  const what = kind === "application" ? "application credential" : kind;
  throw new CloudError(
    "configuration",
    `${where}: this program would sign in with the ${what}, but OpenStack's provider with ${found.join(", ")}, perhaps to another project.`,
    "Write one kind of login into `auth`, and the others into another entry of clouds.yaml.",
  );
}
