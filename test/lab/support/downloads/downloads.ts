import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, request, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { connect, type AddressInfo, type Socket } from "node:net";
import type { Server } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Duplex } from "node:stream";
import { parse } from "yaml";
import { prepareWorkDirectory } from "../../../../automation/pulumi/workspace.js";
import { run } from "../../../../base/run-command.js";
import type { LabCluster } from "../stack/lab-cluster.js";

/** Server that a test runs on an address that the lab's machines can reach. */
export interface TestServer {
  readonly port: number;
  /** Requests that the server received, each with the credentials of its sender. */
  readonly asked: { readonly target: string; readonly signedIn: string }[];
  close(): Promise<void>;
}

const basic = (user: string, password: string): string =>
  `Basic ${Buffer.from(`${user}:${password}`).toString("base64")}`;

/** Forwards a request without the sender's credentials. */
export function forward(from: IncomingMessage, to: URL, answer: ServerResponse): void {
  const headers = { ...from.headers };
  for (const own of ["proxy-authorization", "authorization"]) Reflect.deleteProperty(headers, own);
  const passed = request(to, { method: from.method ?? "GET", headers }, (got) => {
    answer.writeHead(got.statusCode ?? 502, got.headers);
    got.pipe(answer);
  });
  passed.on("error", () => answer.writeHead(502).end());
  from.pipe(passed);
}

function tunnel(target: string, socket: Duplex): void {
  const [host = "", port = "443"] = target.split(":");
  const out = connect(Number(port), host, () => {
    socket.write("HTTP/1.1 200 Connection established\r\n\r\n");
    out.pipe(socket).pipe(out);
  });
  out.on("error", () => socket.destroy());
  socket.on("error", () => out.destroy());
}

/** Starts a server of a test on a free port. */
export async function listen(
  server: Server,
  host: string,
  asked: TestServer["asked"],
): Promise<TestServer> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  return {
    port: (server.address() as AddressInfo).port,
    asked,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Starts a proxy that accepts all clients and records their credentials. */
export function startProxy(host: string): Promise<TestServer> {
  const asked: TestServer["asked"] = [];
  const note = (target: string, { headers }: IncomingMessage): void => {
    asked.push({ target, signedIn: headers["proxy-authorization"] ?? "" });
  };
  const server = createServer((from, answer) => {
    const to = new URL(from.url ?? "");
    note(to.host, from);
    forward(from, to, answer);
  });
  server.on("connect", (from: IncomingMessage, socket: Duplex) => {
    note(from.url ?? "", from);
    tunnel(from.url ?? "", socket);
  });
  return listen(server, host, asked);
}

/**
 * Starts a container registry with TLS and its own CA. The registry requires credentials and
 * forwards requests to the lab's registry.
 */
export async function startRegistry(
  host: string,
  behind: string,
  { user, password }: { readonly user: string; readonly password: string },
): Promise<TestServer & { readonly ca: string }> {
  const directory = mkdtempSync(join(tmpdir(), "stackadm-registry-"));
  const file = (name: string): string => join(directory, name);
  await run("openssl", [
    ...["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=lab"],
    ...["-addext", `subjectAltName=IP:${host}`, "-keyout", file("key"), "-out", file("ca")],
  ]);
  const [key, ca] = ["key", "ca"].map((name) => readFileSync(file(name), "utf8"));
  rmSync(directory, { recursive: true });
  const asked: TestServer["asked"] = [];
  const server = createSecureServer({ key, cert: ca }, (from, answer) => {
    const { authorization: signedIn = "" } = from.headers;
    asked.push({ target: from.url ?? "", signedIn });
    if (signedIn === basic(user, password))
      forward(from, new URL(from.url ?? "", `http://${behind}`), answer);
    else answer.writeHead(401, { "www-authenticate": 'Basic realm="lab"' }).end();
  });
  return { ...(await listen(server, host, asked)), ca: ca ?? "" };
}

/** Returns whether `target` was requested with these credentials. */
export const signedIn = (
  { asked }: TestServer,
  target: string,
  user: string,
  password: string,
): boolean => asked.some((one) => one.target === target && one.signedIn === basic(user, password));

/**
 * Returns the encrypted form of a secret for the stack's settings. The stack must exist, because
 * the salt of its secrets is part of the stack.
 */
export async function encrypted(cluster: LabCluster, text: string): Promise<unknown> {
  const { env, backend } = cluster.environment;
  const { directory } = prepareWorkDirectory({
    stack: cluster.name,
    settings: cluster.settings(),
    backend,
  });
  await run("pulumi", ["config", "set", "--secret", "lab:canary", "--stack", cluster.name], {
    cwd: directory,
    env,
    input: text,
  });
  const settings = parse(readFileSync(join(directory, `Pulumi.${cluster.name}.yaml`), "utf8")) as {
    config: Readonly<Record<string, unknown>>;
  };
  return settings.config["lab:canary"];
}

/** Returns the stack's state in its stored form, with encrypted secrets. */
export async function stateAsItIs(cluster: LabCluster): Promise<string> {
  const { env, backend } = cluster.environment;
  const { directory } = prepareWorkDirectory({
    stack: cluster.name,
    settings: cluster.settings(),
    backend,
  });
  const { stdout } = await run("pulumi", ["stack", "export", "--stack", cluster.name], {
    cwd: directory,
    env,
  });
  return stdout;
}
