import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer, type ServerOptions } from "node:https";
import type { AddressInfo } from "node:net";
import { notFoundBody } from "./not-found-answers.js";

/** Request that the fake cloud received. */
export interface SeenRequest {
  readonly method: string;
  /** Path with query. It begins with the service: `/compute/servers/detail`. */
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  readonly body: unknown;
}

export interface FakeAnswer {
  /** HTTP status. With "reset", the connection is closed without an answer. */
  readonly status?: number | "reset";
  /** Body of the answer. @default for status 404 the service's own body, else empty */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

type Answer = FakeAnswer | ((request: SeenRequest) => FakeAnswer);

/**
 * Small fake OpenStack cloud. Every login has the same user ID, unless `users` contains the user.
 * Services answer by method and path.
 */
export interface FakeCloud {
  readonly authUrl: string;
  readonly seen: readonly SeenRequest[];
  /**
   * Sets the answer of a route like `GET /network/networks`. A path without query matches any
   * query. A later call replaces the answer.
   */
  on(route: string, answer: Answer): void;
  /** Returns the environment variables that point to this cloud. */
  environment(changes?: Readonly<Record<string, string>>): NodeJS.ProcessEnv;
  close(): Promise<void>;
}

export const fakeProject = "0123456789abcdef0123456789abcdef";
export const fakeUser = "fedcba9876543210fedcba9876543210";

async function bodyOf(request: IncomingMessage): Promise<unknown> {
  const parts: Buffer[] = [];
  for await (const part of request) parts.push(part as Buffer);
  const text = Buffer.concat(parts).toString("utf8");
  return text === "" ? undefined : JSON.parse(text);
}

/** Client options that remove the pause between retries. */
export const inNoTime = { pause: () => Promise.resolve() };

const catalogTypes = ["compute", "network", "image", "volumev3", "load-balancer"] as const;

export interface FakeOptions {
  /** Services in the catalog. @default all */
  readonly services?: readonly string[];
  /** Lifetime of a token in milliseconds. @default one hour */
  readonly tokenLife?: number;
  /** Map from the name of a further user to the user's ID. @default none */
  readonly users?: Readonly<Record<string, string>>;
  /** Whether users sign in with an application credential that cannot create another credential. */
  readonly restricted?: boolean;
  /** Key and certificate. If they are set, the cloud uses TLS. */
  readonly tls?: ServerOptions;
  /** Answers requests that match no route. @default 404 */
  readonly otherwise?: (request: SeenRequest) => FakeAnswer | undefined;
}

/** Returns the token of a user who has signed in. */
export const tokenOf = (user: string): string => `token-of-${user}`;

interface SignIn {
  readonly auth?: {
    readonly identity?: { readonly password?: { readonly user?: { readonly name?: string } } };
  };
}

const userIn = (body: unknown, { users = {} }: FakeOptions): string =>
  users[(body as SignIn | undefined)?.auth?.identity?.password?.user?.name ?? ""] ?? fakeUser;

function token(origin: string, options: FakeOptions, user: string): FakeAnswer {
  const { services = catalogTypes, tokenLife: life = 3_600_000, restricted = false } = options;
  const catalog = services.map((type) => ({
    type,
    endpoints: [
      { interface: "internal", region: "one", url: "http://127.0.0.1:1/nowhere" },
      { interface: "public", region: "two", url: "http://127.0.0.1:1/nowhere" },
      { interface: "public", region: "one", url: `${origin}/${type}/v9` },
    ],
  }));
  return {
    status: 201,
    headers: { "x-subject-token": tokenOf(user) },
    body: {
      token: {
        expires_at: new Date(Date.now() + life).toISOString(),
        user: { id: user },
        project: { id: fakeProject, name: "demo" },
        roles: ["member", "load-balancer_member", "reader"].map((name) => ({ id: name, name })),
        ...(restricted && { application_credential: { id: "a", name: "a", restricted } }),
        catalog,
      },
    },
  };
}

const listen = async (server: Server): Promise<number> => {
  await new Promise<void>((ready) => {
    server.listen(0, "127.0.0.1", ready);
  });
  return (server.address() as AddressInfo).port;
};

/** Starts a fake cloud on a free port. */
export async function startFakeCloud(options: FakeOptions = {}): Promise<FakeCloud> {
  const routes = new Map<string, Answer>();
  const seen: SeenRequest[] = [];
  const answerTo = (entry: SeenRequest): FakeAnswer => {
    const { method, path } = entry;
    const route =
      routes.get(`${method} ${path}`) ?? routes.get(`${method} ${path.split("?")[0] ?? ""}`);
    const answer =
      typeof route === "function" ? route(entry) : (route ?? options.otherwise?.(entry));
    const body = notFoundBody(path, `nothing at ${method} ${path}`);
    if (answer === undefined) return { status: 404, body };
    return answer.status === 404 ? { body, ...answer } : answer;
  };
  const answerAll: RequestListener = (request, response) => {
    void (async () => {
      const path = (request.url ?? "/").replace("/v9", "");
      const method = request.method ?? "GET";
      const entry = { method, path, headers: request.headers, body: await bodyOf(request) };
      seen.push(entry);
      const { status = 200, body, headers = {} } = answerTo(entry);
      if (status === "reset") {
        request.socket.resetAndDestroy();
        return;
      }
      response.writeHead(status, { "content-type": "application/json", ...headers });
      response.end(
        body === undefined ? "" : typeof body === "string" ? body : JSON.stringify(body),
      );
    })();
  };
  const server = options.tls ? createTlsServer(options.tls, answerAll) : createServer(answerAll);
  const origin = `${options.tls ? "https" : "http"}://127.0.0.1:${await listen(server)}`;
  routes.set("POST /identity/v3/auth/tokens", ({ body }) =>
    token(origin, options, userIn(body, options)),
  );
  routes.set("GET /identity/v3/auth/tokens", () => ({
    ...token(origin, options, fakeUser),
    status: 200,
  }));
  return {
    authUrl: `${origin}/identity`,
    seen,
    on: (route, answer) => {
      routes.set(route, answer);
    },
    environment: (changes = {}) => ({
      OS_AUTH_URL: `${origin}/identity`,
      OS_USERNAME: "demo",
      OS_PASSWORD: "correct horse",
      OS_PROJECT_NAME: "demo",
      OS_REGION_NAME: "one",
      ...changes,
    }),
    close: async () => {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    },
  };
}

/** Answers every list of an inventory with an empty list. */
export function emptyProject(cloud: FakeCloud): void {
  const lists = {
    "load-balancer/lbaas/loadbalancers": "loadbalancers",
    "compute/servers/detail": "servers",
    "network/floatingips": "floatingips",
    "volumev3/volumes/detail": "volumes",
    "volumev3/snapshots/detail": "snapshots",
    "network/routers": "routers",
    "network/ports": "ports",
    "network/subnets": "subnets",
    "network/networks": "networks",
    "network/security-groups": "security_groups",
    "compute/os-server-groups": "server_groups",
    "compute/os-keypairs": "keypairs",
    [`identity/v3/users/${fakeUser}/application_credentials`]: "application_credentials",
  };
  for (const [path, key] of Object.entries(lists))
    cloud.on(`GET /${path}`, { body: { [key]: [] } });
}
