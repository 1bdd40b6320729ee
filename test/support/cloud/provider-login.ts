/*
 * Model of the login of OpenStack's provider, written from terraform-provider-openstack 3.4.0 with
 * gophercloud 2.8.0. Tests compare the login of the program with this model.
 */

/** Login that the provider sends to Keystone, or the reason why the provider refuses its settings. */
export type ProviderLogin =
  { readonly authUrl: string; readonly method: string; readonly [key: string]: string } | "refused";

type Texts = Readonly<Record<string, string | undefined>>;

/** Keys of `auth`, each with the provider's setting and the variables in the provider's order. */
const parts: readonly (readonly [key: string, setting: string, variables: readonly string[]])[] = [
  ["auth_url", "authUrl", ["OS_AUTH_URL"]],
  ["token", "token", ["OS_TOKEN", "OS_AUTH_TOKEN"]],
  ["username", "userName", ["OS_USERNAME"]],
  ["user_id", "userId", ["OS_USER_ID"]],
  ["password", "password", ["OS_PASSWORD"]],
  ["project_id", "tenantId", ["OS_TENANT_ID", "OS_PROJECT_ID"]],
  ["project_name", "tenantName", ["OS_TENANT_NAME", "OS_PROJECT_NAME"]],
  ["domain_id", "domainId", ["OS_DOMAIN_ID"]],
  ["domain_name", "domainName", ["OS_DOMAIN_NAME"]],
  ["default_domain", "defaultDomain", ["OS_DEFAULT_DOMAIN"]],
  ["user_domain_id", "userDomainId", ["OS_USER_DOMAIN_ID"]],
  ["user_domain_name", "userDomainName", ["OS_USER_DOMAIN_NAME"]],
  ["project_domain_id", "projectDomainId", ["OS_PROJECT_DOMAIN_ID"]],
  ["project_domain_name", "projectDomainName", ["OS_PROJECT_DOMAIN_NAME"]],
  ["application_credential_id", "applicationCredentialId", ["OS_APPLICATION_CREDENTIAL_ID"]],
  ["application_credential_name", "applicationCredentialName", ["OS_APPLICATION_CREDENTIAL_NAME"]],
  [
    "application_credential_secret",
    "applicationCredentialSecret",
    ["OS_APPLICATION_CREDENTIAL_SECRET"],
  ],
];

const first = (...texts: readonly (string | undefined)[]): string =>
  texts.find((text) => text !== undefined && text !== "") ?? "";

/** Returns `auth` with the domains that `domain_*` and `default_domain` complete. */
function withDomains(auth: Readonly<Record<string, string>>): Record<string, string> {
  const completed: Record<string, string> = { ...auth };
  for (const who of ["user", "project"])
    for (const kind of ["id", "name"])
      completed[`${who}_domain_${kind}`] = first(
        auth[`${who}_domain_${kind}`],
        auth[`domain_${kind}`],
      );
  for (const who of ["user", "project"])
    if (first(completed[`${who}_domain_id`], completed[`${who}_domain_name`]) === "")
      completed[`${who}_domain_id`] = first(auth["default_domain"]);
  return completed;
}

/** Returns the domain of a user or a project in one text. */
const domainIn = (auth: Texts, who: "user" | "project"): string =>
  first(auth[`${who}_domain_id`]) === ""
    ? `name ${first(auth[`${who}_domain_name`])}`
    : `id ${first(auth[`${who}_domain_id`])}`;

function scopeOf(auth: Texts): string {
  if (first(auth["project_id"]) !== "") return `project ${first(auth["project_id"])}`;
  if (first(auth["project_name"]) === "") return "";
  return `project ${first(auth["project_name"])} of ${domainIn(auth, "project")}`;
}

function passwordLogin(
  auth: Texts,
): Omit<Exclude<ProviderLogin, "refused">, "authUrl"> | "refused" {
  const [name, id] = [first(auth["username"]), first(auth["user_id"])];
  const domains = [first(auth["user_domain_id"]), first(auth["user_domain_name"])];
  const given = domains.filter((domain) => domain !== "").length;
  if ((name === "") === (id === "")) return "refused";
  if (given !== (id === "" ? 1 : 0)) return "refused";
  const user = id === "" ? `${name} of ${domainIn(auth, "user")}` : `id ${id}`;
  return { method: "password", user, secret: first(auth["password"]), scope: scopeOf(auth) };
}

function applicationLogin(
  auth: Texts,
): Omit<Exclude<ProviderLogin, "refused">, "authUrl"> | "refused" {
  const secret = first(auth["application_credential_secret"]);
  const [id, name] = [
    first(auth["application_credential_id"]),
    first(auth["application_credential_name"]),
  ];
  if (secret === "" || (id === "" && name === "")) return "refused";
  if (id !== "") return { method: "application", credential: id, secret };
  const [userId, userName] = [first(auth["user_id"]), first(auth["username"])];
  if (userId === "" && userName === "") return "refused";
  const user = userId === "" ? `${userName} of ${domainIn(auth, "user")}` : `id ${userId}`;
  return { method: "application", credential: name, user, secret };
}

/**
 * Returns the login of a provider with these settings, in this environment, with these entries of
 * clouds.yaml.
 */
export function modelProviderLogin(
  settings: Texts,
  env: Texts,
  clouds: Readonly<Record<string, Texts>>,
): ProviderLogin {
  const cloud = first(settings["cloud"], env["OS_CLOUD"]);
  const entry = cloud === "" ? undefined : clouds[cloud];
  if (cloud !== "" && entry === undefined) return "refused";
  const base = Object.fromEntries(
    parts.map(([key, setting, variables]) => {
      const inEnvironment = variables.map((name) => env[name]);
      if (entry) return [key, first(entry[key], ...inEnvironment)];
      const value = settings[setting];
      const fallback = key === "default_domain" ? "default" : "";
      // A setting that is present wins even if it is empty; the environment then completes it.
      return [key, first(value, ...inEnvironment, fallback)];
    }),
  );
  const isApplication = Object.keys(base).some(
    (key) => key.startsWith("application_credential") && base[key] !== "",
  );
  const scoped = first(base["project_id"], base["project_name"]) !== "";
  const auth = isApplication || scoped ? withDomains(base) : base;
  const authUrl = first(auth["auth_url"]);
  if (authUrl === "") return "refused";
  if (first(auth["token"]) !== "")
    return {
      authUrl,
      method: "token",
      secret: first(auth["token"]),
      scope: isApplication ? "" : scopeOf(auth),
    };
  const sent =
    first(auth["password"]) === ""
      ? applicationLogin(auth)
      : passwordLogin(isApplication ? { ...auth, project_id: "", project_name: "" } : auth);
  return sent === "refused" ? sent : ({ authUrl, ...sent } as ProviderLogin);
}
