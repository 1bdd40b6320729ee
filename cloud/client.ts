import { CloudError, errorForStatus } from "./cloud-error.js";
import { findCloud, type CloudSettings } from "./clouds-file.js";
import { connectionOf, type Connection } from "./connection.js";
import type { Credential, Domain, Scope } from "./credential.js";
import { jsonIn } from "./http.js";
import { bodyOf, reach, type Asked, type Reached } from "./reach.js";
import { defaultPatience, type Patience } from "./retry.js";
import { scopeIn, type CloudScope } from "./scope.js";
import { tokenSchema, type Token } from "./token.js";

export type Service = keyof typeof services;

/** One project of one OpenStack cloud. */
export interface CloudClient {
  /**
   * One API call; answers the parsed body (undefined when it is empty) and throws a CloudError otherwise.
   * `path` follows the versioned endpoint: `/servers/detail`, `/networks`, `/lbaas/loadbalancers`.
   */
  request(service: Service, method: string, path: string, body?: unknown): Promise<unknown>;
  /** The same for whoever can do without: asked once, and given up after so many milliseconds. Reads. */
  glance(service: Service, path: string, within: number): Promise<unknown>;
  /** True when the catalog offers the service in this region. */
  offers(service: Service): boolean;
  readonly projectId: string;
  /** Empty where the identity service does not tell it. */
  readonly projectName: string;
  readonly userId: string;
  readonly authUrl: string;
  readonly region: string;
  /** Whether it works with an application credential that cannot make another. Undefined: with none. */
  readonly restricted: boolean | undefined;
  /** The names of the roles that one has in the project. */
  readonly roles: readonly string[];
  /** When the password ends by which one has signed in, as ISO 8601. Undefined: never, or it was no password. */
  readonly passwordEnd: string | undefined;
  /** The same as the program asks the cloud for. Absent: the catalog has no public endpoint of the identity service. */
  readonly scope: CloudScope | undefined;
  /** The cloud's name, for messages. */
  readonly name: string;
  /** How it is reached, as far as others have to reach it the same way. */
  readonly connection: Connection;
}

export interface ConnectOptions {
  /** Name in clouds.yaml. Default: OS_CLOUD, else the OS_* variables. */
  readonly cloud?: string;
  /** Default: the process environment. */
  readonly env?: NodeJS.ProcessEnv;
  /** With what one signs in there. Default: what clouds.yaml or the variables say. */
  readonly credential?: Credential;
  /** How requests are made again that the cloud could not take, and who hears of it. Default: up to five tries, nobody. */
  readonly patience?: Partial<Patience>;
}

/** Catalog types a service may be listed under, and the version its endpoint must end with. */
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

interface Session {
  readonly id: string;
  readonly token: Token;
}

const domainOf = (domain: Domain): Record<string, string> => ({ ...domain });

function scopeOf(scope: Scope): Record<string, unknown> {
  if (scope.projectId !== undefined) return { project: { id: scope.projectId } };
  if (scope.projectName === undefined) return {};
  return { project: { name: scope.projectName, domain: domainOf(scope.projectDomain) } };
}

/** The body of `POST /v3/auth/tokens`. */
export function authenticationRequest(credential: Credential): unknown {
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

async function authenticate(settings: CloudSettings, patience: Patience): Promise<Session> {
  const what = `Signing in to the identity service of cloud '${settings.name}'`;
  const asked = {
    method: "POST",
    headers: { "content-type": "application/json", accept: "application/json" },
    body: JSON.stringify(authenticationRequest(settings.credential)),
    timeout: 20_000,
    // A token too many harms nobody.
    ...{ what, repeatable: true },
  };
  const url = `${identityUrl(settings.authUrl)}/auth/tokens`;
  const answer = await reach(settings, url, asked, patience);
  if (answer.status === 401) {
    throw new CloudError(
      "unauthenticated",
      `Cloud '${settings.name}' refused the ${settings.credential.kind === "password" ? "user name or password" : `${settings.credential.kind} credential`} (401 from ${settings.authUrl}).`,
      "Check the credentials in clouds.yaml or the OS_* variables; a credential may have expired.",
      401,
    );
  }
  if (answer.status >= 300) throw errorForStatus(what, answer.status, answer.body, answer.times);
  const parsed = tokenSchema.safeParse(jsonIn(answer.body));
  const id = answer.headers["x-subject-token"];
  if (!parsed.success || id === undefined)
    throw new CloudError(
      "failed",
      `${settings.authUrl} does not answer like an identity service v3.`,
      "Is it that of the Identity API, not of a dashboard, and does nothing in between answer?",
    );
  if (parsed.data.token.project === undefined)
    throw new CloudError(
      "configuration",
      `The credentials for cloud '${settings.name}' are not scoped to a project.`,
      "Set project_name and project_domain_name in clouds.yaml (OS_PROJECT_NAME, OS_PROJECT_DOMAIN_NAME).",
    );
  return { id, token: parsed.data.token };
}

function endpoint(settings: CloudSettings, token: Token, service: Service): string | undefined {
  const { types, version }: Listed = services[service];
  if (service === "identity") return identityUrl(settings.authUrl);
  const entry = token.catalog.find(({ type }) => types.includes(type));
  const found = entry?.endpoints.find(
    (candidate) =>
      candidate.interface === settings.interface &&
      (settings.region === undefined || candidate.region === settings.region),
  );
  if (!found) return undefined;
  const base = found.url.replace(/\/+$/, "");
  return version === undefined || /\/v\d+(\.\d+)?$/.test(base) ? base : `${base}/${version}`;
}

/** Nova answers tags and server group policies in the shape we read from this microversion on (Queens). */
const computeMicroversion = { "x-openstack-nova-api-version": "2.60" };

const idempotent = new Set(["GET", "HEAD", "PUT", "DELETE"]);

type Sent = Pick<Asked, "tries" | "signal"> &
  Readonly<{ method: string; path: string; body?: unknown }>;

class Client implements CloudClient {
  constructor(
    private readonly settings: CloudSettings,
    private session: Session,
    private readonly patience: Patience,
  ) {}

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
    const { region } = this.settings;
    return scopeIn({ endpoints, region, projectId: this.projectId, roles: this.roles });
  }
  get name(): string {
    return this.settings.name;
  }
  get connection(): Connection {
    return connectionOf(this.settings);
  }
  get region(): string {
    const first = this.session.token.catalog.flatMap(({ endpoints }) => endpoints)[0];
    return this.settings.region ?? first?.region ?? "";
  }

  offers(service: Service): boolean {
    return endpoint(this.settings, this.session.token, service) !== undefined;
  }

  async request(service: Service, method: string, path: string, body?: unknown): Promise<unknown> {
    // A token is reused until a minute before it ends.
    if (Date.parse(this.session.token.expires_at) - Date.now() < 60_000)
      this.session = await authenticate(this.settings, this.patience);
    let answer = await this.send(service, { method, path, body });
    if (answer.status === 401) {
      this.session = await authenticate(this.settings, this.patience);
      answer = await this.send(service, { method, path, body });
    }
    // Nobody heard the answer to the try that took it away.
    if (method === "DELETE" && answer.status === 404 && answer.times > 1) return undefined;
    return bodyOf(answer, `${method} ${service} ${path}`);
  }

  async glance(service: Service, path: string, within: number): Promise<unknown> {
    const signal = AbortSignal.timeout(within);
    const answer = await this.send(service, { method: "GET", path, tries: 1, signal });
    return bodyOf(answer, `GET ${service} ${path}`);
  }

  private async send(service: Service, { method, path, body, ...limits }: Sent): Promise<Reached> {
    const base = endpoint(this.settings, this.session.token, service);
    if (base === undefined)
      throw new CloudError(
        "configuration",
        `Cloud '${this.settings.name}' offers no ${service} service${this.settings.region === undefined ? "" : ` in region ${this.settings.region}`}.`,
        "Check region_name and interface in clouds.yaml against `openstack catalog list`.",
      );
    const asked = {
      ...{ what: `${method} ${service} ${path}`, repeatable: idempotent.has(method), method },
      headers: {
        accept: "application/json",
        "x-auth-token": this.session.id,
        ...(service === "compute" ? computeMicroversion : {}),
        ...(body === undefined ? {} : { "content-type": "application/json" }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
      ...limits,
    };
    return reach(this.settings, base + path, asked, this.patience);
  }
}

/** Signs in to the cloud that `options` or the environment name. */
export async function connectCloud(options: ConnectOptions = {}): Promise<CloudClient> {
  const found = findCloud(options.cloud, options.env ?? process.env);
  const settings = { ...found, credential: options.credential ?? found.credential };
  const patience = { ...defaultPatience, ...options.patience };
  return new Client(settings, await authenticate(settings, patience), patience);
}
