import { CloudError } from "./cloud-error.js";

/** With what somebody signs in. */
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

/** `auth` of clouds.yaml, or the OS_* variables by their names there. */
export type Auth = Readonly<Record<string, string | undefined>>;

/** The values of `auth_type` that are taken, those of Keystone's v3 that OpenStack's provider takes, too. */
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
    `${where}: auth_type '${type}' is not taken; write one of ${[...kinds.keys()].join(", ")}.`,
    "An application credential works for users who sign in another way: `openstack application credential create`.",
  );
}

/** The value of a key that has to be there. */
export function need(auth: Auth, key: string, where: string): string {
  const value = auth[key];
  if (value !== undefined && value !== "") return value;
  throw new CloudError("configuration", `${where}: ${key} is missing.`);
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
 * The credential in `auth`.
 *
 * @param type `auth_type`; undefined: what is there says which
 * @param where for messages
 */
export function credentialOf(auth: Auth, type: string | undefined, where: string): Credential {
  const kind = kindOf(auth, type, where);
  if (kind === "application")
    return {
      kind,
      id: auth["application_credential_id"],
      name: auth["application_credential_name"],
      username: auth["username"],
      userDomain: domain(auth, "user"),
      secret: need(auth, "application_credential_secret", where),
    };
  if (kind === "token") return { kind, token: need(auth, "token", where), scope: scopeOf(auth) };
  if (auth["user_id"] === undefined) need(auth, "username", where);
  return {
    kind,
    username: auth["username"],
    userId: auth["user_id"],
    userDomain: domain(auth, "user"),
    password: need(auth, "password", where),
    scope: scopeOf(auth),
  };
}
