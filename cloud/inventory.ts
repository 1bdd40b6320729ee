import { z } from "zod";
import type { CloudClient, Service } from "./client.js";
import { CloudError, isHidden } from "./cloud-error.js";
import { listAll } from "./listing.js";

/** Everything a project can hold that a cluster could make, in the order in which it must be deleted. */
export const kinds = [
  "load balancer",
  "server",
  "floating IP",
  // Cinder keeps a volume that has one.
  "volume snapshot",
  "volume",
  "router",
  "port",
  "subnet",
  "network",
  "security group",
  "server group",
  "key pair",
  "application credential",
] as const;
export type Kind = (typeof kinds)[number];

/** One object of the project, whatever service it lives in. */
export interface CloudObject {
  readonly kind: Kind;
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly status: string;
  /** IDs of the servers of a server group. Empty for the others. */
  readonly members: readonly string[];
  /** Number of rules of a security group. 0 for the others. */
  readonly rules: number;
  /** Size of a volume, or of the one that was taken a snapshot of. 0 for the others. */
  readonly gigabytes: number;
  /** Who holds a port or network: `compute:...`, `network:dhcp`. Empty for the others. */
  readonly owner: string;
  /** ID of what has a port. Empty for the others. */
  readonly device: string;
  /** Which host a server is on, by a text that only this project has for it. Empty for the others. */
  readonly host: string;
  /** ID of the network that a subnet, a port or a load balancer's address is in. Empty for the others. */
  readonly network: string;
  /** When it was made, in UTC, as `2026-01-02T03:04:05Z`. Empty where the cloud does not say. */
  readonly created: string;
}

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? "");
/** The first that the service says anything in. */
const first = (...texts: readonly string[]): string => texts.find((one) => one !== "") ?? "";

/** All services mean UTC; Cinder and Octavia do not write it. */
export const inUtc = (time: string): string =>
  time === "" || /(Z|[+-]\d\d:?\d\d)$/.test(time) ? time : `${time}Z`;

const objectSchema = z
  .looseObject({
    id: z.string().optional(),
    name: text,
    description: text,
    tags: z.array(z.string()).nullish(),
    metadata: z.record(z.string(), z.string()).nullish(),
    status: text,
    provisioning_status: text,
    device_owner: text,
    device_id: text,
    hostId: text,
    size: z.number().nullish(),
    vip_network_id: text,
    network_id: text,
    created: text,
    created_at: text,
    members: z.array(z.string()).nullish(),
    security_group_rules: z.array(z.unknown()).nullish(),
    floating_ip_address: text,
    keypair: z.looseObject({ name: z.string() }).optional(),
  })
  .transform((raw) => ({
    id: raw.id ?? raw.keypair?.name ?? raw.name,
    name: raw.keypair?.name ?? first(raw.name, raw.floating_ip_address),
    description: raw.description,
    tags: raw.tags ?? [],
    metadata: raw.metadata ?? {},
    status: first(raw.provisioning_status, raw.status),
    gigabytes: raw.size ?? 0,
    owner: raw.device_owner,
    device: raw.device_id,
    host: raw.hostId,
    network: first(raw.vip_network_id, raw.network_id),
    created: inUtc(first(raw.created_at, raw.created)),
    members: raw.members ?? [],
    rules: raw.security_group_rules?.length ?? 0,
  }));

interface Source {
  readonly service: Service;
  readonly path: (client: CloudClient) => string;
  readonly key: string;
}

const mine = (path: string) => (client: CloudClient) => `${path}?project_id=${client.projectId}`;
const plain = (path: string) => () => path;

const sources: Readonly<Record<Kind, Source>> = {
  "load balancer": {
    service: "load-balancer",
    path: mine("/lbaas/loadbalancers"),
    key: "loadbalancers",
  },
  server: { service: "compute", path: plain("/servers/detail"), key: "servers" },
  "floating IP": { service: "network", path: mine("/floatingips"), key: "floatingips" },
  "volume snapshot": { service: "volumev3", path: plain("/snapshots/detail"), key: "snapshots" },
  volume: { service: "volumev3", path: plain("/volumes/detail"), key: "volumes" },
  router: { service: "network", path: mine("/routers"), key: "routers" },
  port: { service: "network", path: mine("/ports"), key: "ports" },
  subnet: { service: "network", path: mine("/subnets"), key: "subnets" },
  network: { service: "network", path: mine("/networks"), key: "networks" },
  "security group": { service: "network", path: mine("/security-groups"), key: "security_groups" },
  "server group": { service: "compute", path: plain("/os-server-groups"), key: "server_groups" },
  "key pair": { service: "compute", path: plain("/os-keypairs"), key: "keypairs" },
  "application credential": {
    service: "identity",
    path: (client) => `/users/${client.userId}/application_credentials`,
    key: "application_credentials",
  },
};

/** The objects of one kind. A service the cloud does not offer has none. */
export async function listObjects(client: CloudClient, kind: Kind): Promise<CloudObject[]> {
  const { service, path, key } = sources[kind];
  if (!client.offers(service)) return [];
  const found = await listAll(client, service, path(client), { key, schema: objectSchema });
  return found.map((object) => ({ kind, ...object }));
}

const balancerSchema = z.object({ loadbalancer: objectSchema });

/**
 * A load balancer as it is now; undefined where there is none of that ID.
 *
 * @param within milliseconds for the one try of whoever can do without it. Default: with patience
 */
export async function readBalancer(
  client: CloudClient,
  id: string,
  within?: number,
): Promise<CloudObject | undefined> {
  const path = `/lbaas/loadbalancers/${encodeURIComponent(id)}`;
  try {
    const { loadbalancer } = balancerSchema.parse(
      await (within === undefined
        ? client.request("load-balancer", "GET", path)
        : client.glance("load-balancer", path, within)),
    );
    return loadbalancer.status === "DELETED"
      ? undefined
      : { kind: "load balancer", ...loadbalancer };
  } catch (error) {
    if (error instanceof CloudError && error.kind === "not-found") return undefined;
    throw error;
  }
}

/** What of a project its services show. */
export interface Shown {
  readonly objects: readonly CloudObject[];
  /** Kinds that they do not show to this user, who lacks a role: whether there are any is not known. */
  readonly hidden: readonly Kind[];
  /** Kinds of which the cloud has none at all: a Keystone may come without application credentials. */
  readonly lacking: readonly Kind[];
}

/** Whether this is not there for anybody, for it was looked for among one's own. */
const isLacking = (kind: Kind, error: unknown): boolean =>
  kind === "application credential" && error instanceof CloudError && error.kind === "not-found";

/**
 * What the project has, where some of it may be hidden.
 *
 * @param isNeeded of which kinds it may not be: it fails where one is. @default none
 */
export async function takeShown(
  client: CloudClient,
  isNeeded: (kind: Kind) => boolean = () => false,
): Promise<Shown> {
  const perKind = await Promise.all(
    kinds.map(async (kind): Promise<Shown> => {
      try {
        return { objects: await listObjects(client, kind), hidden: [], lacking: [] };
      } catch (error) {
        if (isLacking(kind, error)) return { objects: [], hidden: [], lacking: [kind] };
        if (!isHidden(error) || isNeeded(kind)) throw error;
        return { objects: [], hidden: [kind], lacking: [] };
      }
    }),
  );
  return {
    objects: perKind.flatMap(({ objects }) => objects),
    hidden: perKind.flatMap(({ hidden }) => hidden),
    lacking: perKind.flatMap(({ lacking }) => lacking),
  };
}

/** A snapshot of everything in the project: take one before `up` and one after `destroy` and compare. Fails where some of it is hidden. */
export const takeInventory = async (client: CloudClient): Promise<CloudObject[]> => [
  ...(await takeShown(client, () => true)).objects,
];

/** Ports that Neutron makes and removes by itself: they come and go with the network. */
const selfMade = (object: CloudObject): boolean =>
  object.kind === "port" && object.owner === "network:dhcp";

export interface InventoryDifference {
  readonly added: readonly CloudObject[];
  readonly removed: readonly CloudObject[];
}

/** What came and what went between two snapshots. */
export function compareInventories(
  before: readonly CloudObject[],
  after: readonly CloudObject[],
): InventoryDifference {
  const key = (object: CloudObject): string => `${object.kind}/${object.id}`;
  const missing = (from: readonly CloudObject[], than: readonly CloudObject[]): CloudObject[] => {
    const there = new Set(than.map(key));
    return from.filter((object) => !there.has(key(object)) && !selfMade(object));
  };
  return { added: missing(after, before), removed: missing(before, after) };
}
