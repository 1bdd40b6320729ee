import { CloudError } from "../http/cloud-error.js";

/** Credential for signing in to Keystone. */
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

/** Content of `auth` in clouds.yaml, or the OS_* variables under the key names of `auth`. */
export type Auth = Readonly<Record<string, string | undefined>>;

/**
 * Credential kind of each accepted `auth_type`. Includes the names with `v3` that OpenStack's
 * provider accepts.
 */
const kinds: ReadonlyMap<string, Credential["kind"]> = new Map([
  ["password", "password"],
  ["v3password", "password"],
  ["token", "token"],
  ["v3token", "token"],
  ["v3applicationcredential", "application"],
]);

function kindOf(auth: Auth, type: string | undefined, where: string): Credential["kind"] {
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

const isThere = (auth: Auth, key: string): boolean => (auth[key] ?? "") !== "";

/** Returns the value of a key whose presence `requireComplete` has checked. */
const valueOf = (auth: Auth, key: string): string => auth[key] ?? "";

/** Returns the missing keys. An entry with several keys means that one of these keys is enough. */
function missing(auth: Auth, kind: Credential["kind"]): readonly (readonly string[])[] {
  const user = ["username", "user_id"];
  const byName = !isThere(auth, "application_credential_id");
  const wanted: Readonly<Record<Credential["kind"], readonly (readonly string[])[]>> = {
    password: [["auth_url"], user, ["password"]],
    token: [["auth_url"], ["token"]],
    application: [
      ["auth_url"],
      ["application_credential_id", "application_credential_name"],
      ["application_credential_secret"],
      // The name of an application credential is unique only within one user's credentials.
      ...(byName && isThere(auth, "application_credential_name") ? [["username"]] : []),
    ],
  };
  return wanted[kind].filter((keys) => !keys.some((key) => isThere(auth, key)));
}

/** Value of `where` for OS_* variables: messages then name the variables. */
export const variables = "environment";

const nameOf = (key: string, where: string): string =>
  where === variables ? `OS_${key.toUpperCase()}` : key;

function requireComplete(auth: Auth, kind: Credential["kind"], where: string): void {
  const lacks = missing(auth, kind).map((keys) =>
    keys.map((key) => nameOf(key, where)).join(" or "),
  );
  if (lacks.length === 0) return;
  const verb = lacks.length === 1 ? "is" : "are";
  throw new CloudError("configuration", `${where}: ${lacks.join(", ")} ${verb} missing.`);
}

const domain = (auth: Auth, kind: "user" | "project"): Domain => {
  const id = auth[`${kind}_domain_id`] ?? auth["domain_id"];
  if (id !== undefined) return { id };
  const name = auth[`${kind}_domain_name`] ?? auth["domain_name"];
  return name === undefined ? { id: "default" } : { name };
};

const scopeOf = (auth: Auth): Scope => ({
  projectId: auth["project_id"] ?? auth["tenant_id"],
  projectName: auth["project_name"] ?? auth["tenant_name"],
  projectDomain: domain(auth, "project"),
});

/**
 * Returns the credential in `auth`.
 *
 * @param type value of `auth_type`. Undefined: the keys in `auth` decide
 * @param where source of `auth`, for messages
 */
export function credentialOf(auth: Auth, type: string | undefined, where: string): Credential {
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
