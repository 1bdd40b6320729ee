import { CloudError, createStatusError, isNotFoundByService } from "../http/cloud-error.js";
import { findCloud, type CloudSettings } from "../auth/clouds-file.js";
import { getConnectionProperties, type ConnectionProperties } from "../auth/connection.js";
import type { Credential, KeystoneDomain, CredentialScope } from "../auth/credential.js";
import { parseJsonBody } from "../http/http-exchange.js";
import {
  parseResponseBody,
  sendRequest,
  type CloudRequest,
  type CloudAnswer,
  type CloudConnection,
} from "./send-request.js";
import { getProxyVariables } from "../http/proxy-settings.js";
import { defaultRetryClock, type RetryClock } from "../http/retry.js";
import { getCloudScope, type CloudScope } from "../auth/token-scope.js";
import { tokenSchema, type Token } from "../auth/token-schema.js";

export type ServiceType = keyof typeof services;

/** Client for one project of one OpenStack cloud. */
export interface CloudClient {
  /**
   * Sends an API request. Returns the parsed body, or undefined if the body is empty. Throws a
   * CloudError on failure. `path` is relative to the endpoint with its version: `/servers/detail`,
   * `/networks`, `/lbaas/loadbalancers`.
   */
  request(service: ServiceType, method: string, path: string, body?: unknown): Promise<unknown>;
  /**
   * Sends one GET request without retries, to read optional information. `within` is the time limit
   * in milliseconds.
   */
  glance(service: ServiceType, path: string, within: number): Promise<unknown>;
  /**
   * Returns whether the catalog contains an endpoint of the service in this region. `type` is the
   * only accepted name of the service in the catalog. Default: every name of the service.
   */
  offers(service: ServiceType, type?: string): boolean;
  readonly projectId: string;
  /** Name of the project. Empty if Keystone does not report the name. */
  readonly projectName: string;
  readonly userId: string;
  readonly authUrl: string;
  readonly region: string;
  /**
   * Whether the application credential is restricted: it cannot create other application
   * credentials. Undefined: the login used no application credential.
   */
  readonly restricted: boolean | undefined;
  /** Names of the user's roles in the project. */
  readonly roles: readonly string[];
  /**
   * Expiry of the user's password, as ISO 8601. Undefined: the password never expires, or the login
   * used no password.
   */
  readonly passwordEnd: string | undefined;
  /**
   * Scope of the credential, determined in the same way as in OpenStack's provider. Undefined if
   * the catalog has no public identity endpoint.
   */
  readonly scope: CloudScope | undefined;
  /** Name of the cloud, for messages. */
  readonly name: string;
  /** Properties of the connection that also affect the cluster's controllers. */
  readonly connection: ConnectionProperties;
}

export interface ConnectOptions {
  /** Name of the cloud in clouds.yaml. Default: OS_CLOUD, else the OS_* variables. */
  readonly cloud?: string;
  /** Environment variables. Default: process.env. */
  readonly env?: NodeJS.ProcessEnv;
  /** Credential for the login. Default: the credential in clouds.yaml or the OS_* variables. */
  readonly credential?: Credential;
  /** Clock and listener for retries of failed requests. Default: real time, no listener. */
  readonly patience?: Partial<RetryClock>;
}

/**
 * Names of the service's type in the catalog, and the API version at the end of the service's
 * endpoint.
 */
type Listed = Readonly<{ types: readonly string[]; version?: string }>;

const services = {
  compute: { types: ["compute"] },
  network: { types: ["network"], version: "v2.0" },
  image: { types: ["image"], version: "v2" },
  volumev3: { types: ["volumev3", "block-storage", "block-store"] },
  "load-balancer": { types: ["load-balancer"], version: "v2" },
  "key-manager": { types: ["key-manager"], version: "v1" },
  identity: { types: ["identity"], version: "v3" },
} satisfies Record<string, Listed>;

type Endpoint = Token["catalog"][number]["endpoints"][number];

interface Session {
  readonly id: string;
  readonly token: Token;
}

const domainOf = (domain: KeystoneDomain): Record<string, string> => ({ ...domain });

function scopeOf(scope: CredentialScope): Record<string, unknown> {
  if (scope.projectId !== undefined) return { project: { id: scope.projectId } };
  if (scope.projectName === undefined) return {};
  return { project: { name: scope.projectName, domain: domainOf(scope.projectDomain) } };
}

/** Returns the body of `POST /v3/auth/tokens`. */
export function buildAuthenticationRequest(credential: Credential): unknown {
  switch (credential.kind) {
    case "password": {
      const user =
        credential.userId === undefined
          ? { name: credential.username, domain: domainOf(credential.userDomain) }
          : { id: credential.userId };
      return {
        auth: {
          identity: {
            methods: ["password"],
            password: { user: { ...user, password: credential.password } },
          },
          scope: scopeOf(credential.scope),
        },
      };
    }
    case "application": {
      const which =
        credential.id === undefined
          ? {
              name: credential.name,
              user: { name: credential.username, domain: domainOf(credential.userDomain) },
            }
          : { id: credential.id };
      return {
        auth: {
          identity: {
            methods: ["application_credential"],
            application_credential: { ...which, secret: credential.secret },
          },
        },
      };
    }
    case "token":
      return {
        auth: {
          identity: { methods: ["token"], token: { id: credential.token } },
          scope: scopeOf(credential.scope),
        },
      };
  }
}

const identityUrl = (authUrl: string): string => {
  const base = authUrl.replace(/\/+$/, "");
  return /\/v3$/.test(base) ? base : `${base.replace(/\/v2\.0$/, "")}/v3`;
};

async function authenticate(settings: CloudConnection, clock: RetryClock): Promise<Session> {
  const what = `Signing in to the identity service of cloud '${settings.name}'`;
  const asked = {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(buildAuthenticationRequest(settings.credential)),
    timeout: 20_000,
    // The request can be repeated, because a second token does no harm.
    what,
    repeatable: true,
  };
  const url = `${identityUrl(settings.authUrl)}/auth/tokens`;
  const answer = await sendRequest(settings, url, asked, clock);
  if (answer.status === 401) {
    throw new CloudError(
      "unauthenticated",
      `Cloud '${settings.name}' refused the ${settings.credential.kind === "password" ? "user name or password" : `${settings.credential.kind} credential`} (401 from ${settings.authUrl}).`,
      "Check the credentials in clouds.yaml or the OS_* variables; a credential may have expired.",
      401,
    );
  }
  if (answer.status >= 300) throw createStatusError(what, answer.status, answer.body, answer.times);
  const parsed = tokenSchema.safeParse(parseJsonBody(answer.body));
  const id = answer.headers["x-subject-token"];
  if (!parsed.success || id === undefined)
    throw new CloudError(
      "failed",
      `${settings.authUrl} does not answer like an identity service v3.`,
      "Check that auth_url is the address of the Identity API, not of a dashboard, and that no proxy answers instead.",
    );
  if (parsed.data.token.project === undefined)
    throw new CloudError(
      "configuration",
      `The credentials for cloud '${settings.name}' are not scoped to a project.`,
      "Set project_name and project_domain_name in clouds.yaml (OS_PROJECT_NAME, OS_PROJECT_DOMAIN_NAME).",
    );
  return { id, token: parsed.data.token };
}

/** Returns the endpoints of a service in the catalog. `types` contains all names of the service. */
const endpointsOf = ({ catalog }: Token, types: readonly string[]): Endpoint[] =>
  catalog.filter(({ type }) => types.includes(type)).flatMap(({ endpoints }) => endpoints);

/**
 * Returns the region of the cloud: the configured region, or else the only region with a compute
 * service. Throws if there are several, because the plugin, the checks and the controllers could
 * then use different regions.
 */
function requireOneRegion({ name, region, interface: kind }: CloudSettings, token: Token): string {
  if (region !== undefined) return region;
  const regions = new Set(
    endpointsOf(token, services.compute.types)
      .filter((one) => one.interface === kind)
      .flatMap((one) => one.region ?? []),
  );
  const [first = token.catalog.flatMap(({ endpoints }) => endpoints)[0]?.region ?? ""] = regions;
  if (regions.size < 2) return first;
  throw new CloudError(
    "configuration",
    `Cloud '${name}' has several regions: ${[...regions].sort().join(", ")}.`,
    "Set region_name in clouds.yaml, openstack:region of the stack or OS_REGION_NAME to one of them.",
  );
}

function endpoint(
  settings: CloudSettings,
  token: Token,
  service: ServiceType,
  type?: string,
): string | undefined {
  const { types: known, version }: Listed = services[service];
  const types = type === undefined ? known : [type];
  if (service === "identity") return identityUrl(settings.authUrl);
  const found = endpointsOf(token, types).find(
    (candidate) =>
      candidate.interface === settings.interface &&
      (settings.region === undefined || candidate.region === settings.region),
  );
  if (!found) return undefined;
  const base = found.url.replace(/\/+$/, "");
  return version === undefined || /\/v\d+(\.\d+)?$/.test(base) ? base : `${base}/${version}`;
}

/**
 * Microversion of Nova's API (Queens). This version includes server tags, and the format of server
 * group policies that this client reads.
 */
const computeMicroversion = { "x-openstack-nova-api-version": "2.60" };

const idempotent = new Set(["GET", "HEAD", "PUT", "DELETE"]);

type Sent = Pick<CloudRequest, "tries" | "signal"> &
  Readonly<{ method: string; path: string; body?: unknown }>;

class Client implements CloudClient {
  readonly region: string;
  #signingIn: Promise<void> | undefined;

  constructor(
    private readonly settings: CloudConnection,
    private session: Session,
    private readonly patience: RetryClock,
  ) {
    this.region = requireOneRegion(settings, session.token);
  }

  get projectId(): string {
    return this.session.token.project?.id ?? "";
  }
  get projectName(): string {
    return this.session.token.project?.name ?? "";
  }
  get userId(): string {
    return this.session.token.user.id;
  }
  get restricted(): boolean | undefined {
    return this.session.token.application_credential?.restricted;
  }
  get roles(): readonly string[] {
    return this.session.token.roles.map(({ name }) => name);
  }
  get passwordEnd(): string | undefined {
    return this.session.token.user.password_expires_at;
  }
  get authUrl(): string {
    return this.settings.authUrl;
  }
  get scope(): CloudScope | undefined {
    const { catalog } = this.session.token;
    const endpoints = catalog
      .filter(({ type }) => type === "identity")
      .flatMap((service) => service.endpoints);
    return getCloudScope({
      endpoints,
      region: this.region,
      projectId: this.projectId,
      roles: this.roles,
    });
  }
  get name(): string {
    return this.settings.name;
  }
  get connection(): ConnectionProperties {
    return getConnectionProperties(this.settings);
  }

  offers(service: ServiceType, type?: string): boolean {
    return endpoint(this.settings, this.session.token, service, type) !== undefined;
  }

  async request(
    service: ServiceType,
    method: string,
    path: string,
    body?: unknown,
  ): Promise<unknown> {
    // Requests a new token one minute before the current token expires.
    if (Date.parse(this.session.token.expires_at) - Date.now() < 60_000) await this.signIn();
    const used = this.session;
    let answer = await this.send(service, { method, path, body });
    if (answer.status === 401) {
      // Another request may have signed in since.
      if (this.session === used) await this.signIn();
      answer = await this.send(service, { method, path, body });
    }
    // After a retry, status 404 means that an earlier try deleted the object, and only the response
    // of this try was lost.
    const isGone = answer.status === 404 && isNotFoundByService(answer.body);
    if (method === "DELETE" && isGone && answer.times > 1) return undefined;
    return parseResponseBody(answer, `${method} ${service} ${path}`);
  }

  /** Signs in again. Requests at the same time share one login. */
  private signIn(): Promise<void> {
    this.#signingIn ??= authenticate(this.settings, this.patience)
      .then((session) => {
        this.session = session;
      })
      .finally(() => {
        this.#signingIn = undefined;
      });
    return this.#signingIn;
  }

  async glance(service: ServiceType, path: string, within: number): Promise<unknown> {
    const signal = AbortSignal.timeout(within);
    const answer = await this.send(service, { method: "GET", path, tries: 1, signal });
    return parseResponseBody(answer, `GET ${service} ${path}`);
  }

  private async send(
    service: ServiceType,
    { method, path, body, ...limits }: Sent,
  ): Promise<CloudAnswer> {
    const base = endpoint(this.settings, this.session.token, service);
    if (base === undefined)
      throw new CloudError(
        "configuration",
        `Cloud '${this.settings.name}' offers no ${service} service${this.settings.region === undefined ? "" : ` in region ${this.settings.region}`}.`,
        "Check region_name and interface in clouds.yaml against `openstack catalog list`.",
      );
    const asked = {
      what: `${method} ${service} ${path}`,
      repeatable: idempotent.has(method),
      method,
      headers: {
        accept: "application/json",
        "x-auth-token": this.session.id,
        ...(service === "compute" ? computeMicroversion : {}),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      ...limits,
    };
    return sendRequest(this.settings, base + path, asked, this.patience);
  }
}

/** Signs in to a cloud. `options` or the environment determine the cloud. */
export async function connectCloud(options: ConnectOptions = {}): Promise<CloudClient> {
  const env = options.env ?? process.env;
  const found = findCloud(options.cloud, env);
  const credential = options.credential ?? found.credential;
  const settings = { ...found, credential, proxies: getProxyVariables(env) };
  const clock = { ...defaultRetryClock, ...options.patience };
  return new Client(settings, await authenticate(settings, clock), clock);
}
