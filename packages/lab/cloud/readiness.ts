import { connect } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { Step } from "../../../base/progress.js";
import { Failure } from "../../../base/failures/failure.js";
import type { LabSettings } from "../settings.js";
import { getIdentityUrl, managementPorts, getTlsPort } from "./configuration/common.js";

/** Ports of the APIs that must accept connections. */
export const apiPorts = {
  keystone: managementPorts.identity,
  placement: managementPorts.placement,
  glance: managementPorts.image,
  "nova-api": managementPorts.compute,
  neutron: managementPorts.network,
  cinder: managementPorts.volume,
  octavia: managementPorts.loadBalancer,
  barbican: managementPorts.secrets,
  // One TLS port is enough, because nginx listens on all TLS ports or on none.
  "TLS of the APIs": getTlsPort(managementPorts.identity),
  "package repository": managementPorts.packages,
  registry: managementPorts.registry,
} as const;

/** Worker of a service, as the service's API reports it. */
export interface WorkerReport {
  readonly name: string;
  readonly up: boolean;
  /** Time of the last report, in milliseconds since the epoch. */
  readonly reported: number;
}

/**
 * Parses a UTC time from the APIs, with or without "T" and fraction. Returns milliseconds, or 0 if
 * there is no time.
 */
export const parseUtcTime = (text: string | null | undefined): number =>
  text ? Date.parse(`${text.replace(" ", "T").replace(/Z$/, "")}Z`) : 0;

interface NovaService {
  binary: string;
  host: string;
  state: string;
  updated_at: string | null;
}
interface NeutronAgent {
  binary: string;
  host: string;
  alive: boolean;
  heartbeat_timestamp: string | null;
}

/** Returns the workers in the answer of Nova's or Cinder's `os-services`. */
export const parseNovaWorkers = (body: { services: NovaService[] }): WorkerReport[] =>
  body.services.map((service) => ({
    name: `${service.binary} ${service.host}`,
    up: service.state === "up",
    reported: parseUtcTime(service.updated_at),
  }));

/** Returns the agents in the answer of Neutron's `agents`. */
export const parseNeutronWorkers = (body: { agents: NeutronAgent[] }): WorkerReport[] =>
  body.agents.map((agent) => ({
    name: `${agent.binary} ${agent.host}`,
    up: agent.alive,
    reported: parseUtcTime(agent.heartbeat_timestamp),
  }));

/**
 * Returns the backends that Cinder's scheduler knows, from the answer of
 * `scheduler-stats/get_pools` (names like labcloud@zone-a#lab).
 */
export const parseCinderBackends = (
  body: { pools: { name: string }[] },
  now: number,
): WorkerReport[] =>
  body.pools.map(({ name }) => ({
    name: `backend ${name.split("#")[0] ?? name}`,
    up: true,
    reported: now,
  }));

/** Returns the names of the workers in a complete cloud. */
export function listExpectedWorkers({ hostname, zones }: LabSettings): string[] {
  return [
    `nova-conductor ${hostname}`,
    `nova-scheduler ${hostname}`,
    ...zones.map(({ host }) => `nova-compute ${host}`),
    ...["linuxbridge", "l3", "dhcp", "metadata"].map(
      (agent) => `neutron-${agent}-agent ${hostname}`,
    ),
    `cinder-scheduler ${hostname}`,
    ...zones.map(({ name }) => `cinder-volume ${hostname}@${name}`),
    ...zones.map(({ name }) => `backend ${hostname}@${name}`),
  ];
}

/**
 * Returns the expected workers that are not up or have not reported since `since`. Older reports
 * are from the first boot of the golden cloud, whose databases the cloud contains.
 */
export const findLateWorkers = (
  expected: readonly string[],
  workers: readonly WorkerReport[],
  since: number,
): string[] =>
  expected.filter(
    (name) =>
      !workers.some((worker) => worker.name === name && worker.up && worker.reported >= since),
  );

const answers = (host: string, port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect({ host, port, timeout: 1000 });
    const end = (result: boolean) => {
      socket.destroy();
      resolve(result);
    };
    socket.once("connect", () => {
      end(true);
    });
    socket.once("timeout", () => {
      end(false);
    });
    socket.once("error", () => {
      end(false);
    });
  });

/** Returns the names of the APIs that do not accept connections. */
export async function findUnreachableApis({ management }: LabSettings): Promise<string[]> {
  const found = await Promise.all(
    Object.entries(apiPorts).map(async ([name, port]) => ({
      name,
      ok: await answers(management.cloud, port),
    })),
  );
  return found.filter(({ ok }) => !ok).map(({ name }) => name);
}

interface Login {
  readonly token: string;
  readonly project: string;
}

async function login(settings: LabSettings, password: string): Promise<Login> {
  const scope = { project: { name: "admin", domain: { id: "default" } } };
  const user = { name: "admin", domain: { id: "default" }, password };
  const response = await fetch(`${getIdentityUrl(settings)}/auth/tokens`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({
      auth: { identity: { methods: ["password"], password: { user } }, scope },
    }),
    signal: AbortSignal.timeout(20_000),
  });
  if (!response.ok) throw new Error(`keystone answers ${response.status}`);
  const body = (await response.json()) as { token: { project: { id: string } } };
  return { token: response.headers.get("X-Subject-Token") ?? "", project: body.token.project.id };
}

async function get<T>({ token }: Login, url: string): Promise<T> {
  const response = await fetch(url, {
    headers: { "X-Auth-Token": token },
    signal: AbortSignal.timeout(20_000),
  });
  if (!response.ok) throw new Error(`${url} answers ${response.status}`);
  return (await response.json()) as T;
}

/**
 * Returns the names of everything that is not ready yet. The list is empty when the cloud can be
 * used.
 */
async function findNotReady(
  settings: LabSettings,
  password: string,
  since: number,
): Promise<string[]> {
  const silent = await findUnreachableApis(settings);
  if (silent.length > 0) return silent;
  const at = (port: number, path: string) => `http://${settings.management.cloud}:${port}${path}`;
  const admin = await login(settings, password);
  const volumes = `/v3/${admin.project}`;
  const [nova, neutron, cinder, backends] = await Promise.all([
    get<{ services: NovaService[] }>(admin, at(managementPorts.compute, "/v2.1/os-services")),
    get<{ agents: NeutronAgent[] }>(admin, at(managementPorts.network, "/v2.0/agents")),
    get<{ services: NovaService[] }>(admin, at(managementPorts.volume, `${volumes}/os-services`)),
    get<{ pools: { name: string }[] }>(
      admin,
      at(managementPorts.volume, `${volumes}/scheduler-stats/get_pools`),
    ),
    get(admin, at(managementPorts.image, "/v2/images")),
    get(admin, at(managementPorts.loadBalancer, "/v2/lbaas/providers")),
  ]);
  const workers = [
    ...parseNovaWorkers(nova),
    ...parseNeutronWorkers(neutron),
    ...parseNovaWorkers(cinder),
    ...parseCinderBackends(backends, Date.now()),
  ];
  return findLateWorkers(listExpectedWorkers(settings), workers, since);
}

/**
 * Time limit of a start, in milliseconds. A start with a warm cache takes 40 s on two idle cores.
 */
const patience = 300_000;

export interface CloudReadinessOptions {
  readonly settings: LabSettings;
  /** Password of the cloud's administrator. */
  readonly password: string;
  readonly step: Step;
  readonly signal?: AbortSignal;
}

/** Waits until every API answers and every worker has reported since the call. */
export async function waitUntilCloudReady({
  settings,
  password,
  step,
  signal,
}: CloudReadinessOptions): Promise<void> {
  // Rounds down to whole seconds, because the APIs return whole seconds.
  const since = Math.floor(Date.now() / 1000) * 1000;
  let missing = ["everything"];
  while (Date.now() < since + patience) {
    signal?.throwIfAborted();
    missing = await findNotReady(settings, password, since).catch((error: unknown) => [
      error instanceof Error ? error.message : String(error),
    ]);
    if (missing.length === 0) return;
    step.update(`waiting for ${missing.join(", ")}`);
    await delay(500, undefined, signal ? { signal } : {});
  }
  throw new Failure(
    "FAILED",
    `The cloud did not become ready within ${patience / 1000} s: ${missing.join(", ")}.`,
    `Look inside: podman exec ${settings.name} systemctl --failed; podman exec ${settings.name} journalctl -n 100`,
  );
}
