import { createServer, type Server } from "node:http";
import { apiPorts, listExpectedWorkers } from "../../../cloud/readiness.js";
import { managementPorts } from "../../../cloud/configuration/common.js";
import type { LabSettings } from "../../../settings.js";

/** Workers and APIs of a fake cloud. Tests change them while it runs. */
export interface FakeLabCloud {
  /** Password that Keystone accepts. */
  password: string;
  /** Workers that have never reported. */
  readonly silent: Set<string>;
  /** Workers that report the status "down". */
  readonly down: Set<string>;
  /** Ports of APIs that answer 500. */
  readonly broken: Set<number>;
  /** Receives each request, as "port path". */
  onRequest: (request: string) => void;
  /** Stops one API, as if its service had ended. */
  stop(port: number): Promise<void>;
  close(): Promise<void>;
}

const now = () => new Date().toISOString().replace("Z", "");

/** Returns the answer to a request, "port path". Worker states have the format of the real APIs. */
function answer(settings: LabSettings, cloud: FakeLabCloud, request: string): unknown {
  const workers = listExpectedWorkers(settings)
    .filter((worker) => !cloud.silent.has(worker))
    .map((worker) => {
      const [binary = "", host = ""] = worker.split(" ");
      return { binary, host, up: !cloud.down.has(worker) };
    });
  const of = (prefix: string) => workers.filter(({ binary }) => binary.startsWith(prefix));
  const services = (prefix: string) => ({
    services: of(prefix).map(({ binary, host, up }) => ({
      binary,
      host,
      state: up ? "up" : "down",
      updated_at: now(),
    })),
  });
  switch (request) {
    case `${managementPorts.identity} /v3/auth/tokens`:
      return { token: { project: { id: "p1" } } };
    case `${managementPorts.compute} /v2.1/os-services`:
      return services("nova-");
    case `${managementPorts.volume} /v3/p1/os-services`:
      return services("cinder-");
    case `${managementPorts.volume} /v3/p1/scheduler-stats/get_pools`:
      return { pools: of("backend").map(({ host }) => ({ name: `${host}#lab` })) };
    case `${managementPorts.network} /v2.0/agents`:
      return {
        agents: of("neutron-").map(({ binary, host, up }) => ({
          binary,
          host,
          alive: up,
          heartbeat_timestamp: now().replace("T", " "),
        })),
      };
    case `${managementPorts.image} /v2/images`:
    case `${managementPorts.loadBalancer} /v2/lbaas/providers`:
      return {};
    default:
      return undefined;
  }
}

/**
 * Starts the lab's APIs on its management address, which must be in the range of the loopback
 * interface.
 */
export async function startFakeLabCloud(settings: LabSettings): Promise<FakeLabCloud> {
  const servers = new Map<number, Server>();
  const stop = async (port: number): Promise<void> => {
    const server = servers.get(port);
    servers.delete(port);
    server?.closeAllConnections();
    if (server) await new Promise((closed) => server.close(closed));
  };
  const cloud: FakeLabCloud = {
    password: "admin-word",
    silent: new Set(),
    down: new Set(),
    broken: new Set(),
    onRequest: () => undefined,
    stop,
    close: async () => {
      await Promise.all([...servers.keys()].map(stop));
    },
  };
  for (const port of Object.values(apiPorts)) {
    const server = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk: Buffer) => (body += chunk.toString()));
      request.on("end", () => {
        const asked = `${port} ${request.url ?? ""}`;
        cloud.onRequest(asked);
        const isLogin = asked.endsWith("/auth/tokens");
        const known = isLogin
          ? body.includes(`"password":"${cloud.password}"`)
          : request.headers["x-auth-token"] === "token-1";
        const found = answer(settings, cloud, asked);
        const status = cloud.broken.has(port) ? 500 : !known ? 401 : found ? 200 : 404;
        response.writeHead(status, { "X-Subject-Token": "token-1" });
        response.end(JSON.stringify(found ?? { itemNotFound: { code: 404, message: "none" } }));
      });
    });
    servers.set(port, server);
    await new Promise<void>((ready, failed) => {
      server.once("error", failed);
      server.listen(port, settings.management.cloud, ready);
    });
  }
  return cloud;
}
