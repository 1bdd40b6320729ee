import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import type { CloudClient, ServiceType } from "../client/cloud-client.js";
import { CloudError, isDeniedByService, isHiddenFromUser } from "../http/cloud-error.js";
import { listAll } from "../client/paginate.js";

/**
 * Kinds of objects that a cluster can have in a project. A cluster's objects must be deleted in the
 * order of this list.
 */
export const inventoryKinds = [
  "load balancer",
  "server",
  "floating IP",
  // Cinder refuses to delete a volume that has a snapshot.
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
export type CloudObjectKind = (typeof inventoryKinds)[number];

export interface ServerCapacity {
  readonly vcpus: number;
  readonly ram: number;
}

/** Object of the project. The objects of all services have the same fields. */
export interface CloudObject {
  readonly kind: CloudObjectKind;
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly metadata: Readonly<Record<string, string>>;
  readonly status: string;
  /** IDs of the servers in a server group. Empty for other kinds. */
  readonly members: readonly string[];
  /** Number of rules in a security group. 0 for other kinds. */
  readonly rules: number;
  /** Size of a volume in GiB. For a snapshot, the size of its volume. 0 for other kinds. */
  readonly gigabytes: number;
  /**
   * Field `device_owner` of a port, for example `compute:nova` or `network:dhcp`. Empty for other
   * kinds.
   */
  readonly owner: string;
  /** ID of the device (server, router) to which a port belongs. Empty for other kinds. */
  readonly device: string;
  /** CPUs, and memory in MiB, of a server. Absent for other kinds, and if Nova does not report them. */
  readonly capacity?: ServerCapacity;
  /**
   * Host ID of a server. Nova returns different IDs for the same host to different projects. Empty
   * for other kinds.
   */
  readonly host: string;
  /**
   * ID of the network to which a subnet, a port or a load balancer's address belongs. Empty for
   * other kinds.
   */
  readonly network: string;
  /**
   * Time of creation in UTC, as `2026-01-02T03:04:05Z`. Empty if the cloud does not report the
   * time.
   */
  readonly created: string;
}

const text = z
  .string()
  .nullish()
  .transform((value) => value ?? "");
/** Returns the first text that is not empty. Returns an empty text if all are empty. */
const first = (...texts: readonly string[]): string => texts.find((one) => one !== "") ?? "";

/** Returns the time with a time zone. Cinder and Octavia write UTC times without a time zone. */
export const addUtcZone = (time: string): string =>
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
    flavor: z
      .object({ vcpus: z.number(), ram: z.number() })
      .optional()
      .catch(undefined)
      .transform((capacity) => capacity && { capacity }),
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
    created: addUtcZone(first(raw.created_at, raw.created)),
    members: raw.members ?? [],
    rules: raw.security_group_rules?.length ?? 0,
    ...raw.flavor,
  }));

interface Source {
  readonly service: ServiceType;
  readonly path: (client: CloudClient) => string;
  readonly key: string;
}

const mine = (path: string) => (client: CloudClient) => `${path}?project_id=${client.projectId}`;
const plain = (path: string) => () => path;

const sources: Readonly<Record<CloudObjectKind, Source>> = {
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

/**
 * Returns the objects of one kind. Returns no objects if the catalog does not contain the service.
 */
export async function listObjects(
  client: CloudClient,
  kind: CloudObjectKind,
): Promise<CloudObject[]> {
  const { service, path, key } = sources[kind];
  if (!client.offers(service)) return [];
  const found = await listAll(client, service, path(client), { key, schema: objectSchema });
  return found.map((object) => ({ kind, ...object }));
}

const balancerSchema = z.object({ loadbalancer: objectSchema });

/**
 * Returns the current state of a load balancer. Returns undefined if it does not exist.
 *
 * @param within time limit in milliseconds, with only one try. Default: several tries
 */
export async function readLoadBalancer(
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

/** Objects of a project that the user can list. */
export interface VisibleObjects {
  readonly objects: readonly CloudObject[];
  /** Kinds that the user is not allowed to list. Objects of these kinds may exist. */
  readonly hidden: readonly CloudObjectKind[];
  /** Kinds that the cloud does not support. Some clouds have no application credentials. */
  readonly lacking: readonly CloudObjectKind[];
}

/**
 * Returns whether the error means that the cloud does not support the kind. Every user may list the
 * user's own application credentials, so 404 means that Keystone does not support them.
 */
const isLacking = (kind: CloudObjectKind, error: unknown): boolean =>
  kind === "application credential" && error instanceof CloudError && error.kind === "not-found";

/** Services that every cloud has in which a cluster can exist. */
const presentServices: ReadonlySet<ServiceType> = new Set(["compute", "network"]);

/**
 * Returns whether a proxy answered in place of the service. It may have no such service, or it may
 * fail for a moment, for example during its reload.
 */
const isAnsweredByProxy = (error: unknown): boolean =>
  isHiddenFromUser(error) && !isDeniedByService(error);

/**
 * Returns whether the error means that the user cannot list the kind. If a proxy answers 404 for a
 * service that every cloud has, the proxy only fails for a moment.
 */
const isHidden = (kind: CloudObjectKind, error: unknown): boolean =>
  isHiddenFromUser(error) &&
  !(isAnsweredByProxy(error) && presentServices.has(sources[kind].service));

/** Repetition of lists for which a proxy answered in place of the service. */
export interface ProxyPatience {
  readonly tries: number;
  /** Milliseconds between two tries. */
  readonly interval: number;
  readonly signal?: AbortSignal | undefined;
}

async function listPatiently(
  client: CloudClient,
  kind: CloudObjectKind,
  { tries, interval, signal }: ProxyPatience,
): Promise<CloudObject[]> {
  for (let tried = 1; ; tried += 1)
    try {
      return await listObjects(client, kind);
    } catch (error) {
      if (tried >= tries || !isAnsweredByProxy(error)) throw error;
      await pause(interval, undefined, { signal });
    }
}

/**
 * Lists the objects of a project that the user can list.
 *
 * @param isNeeded returns whether the kind is necessary. If the user cannot list a necessary kind,
 * this function throws. @default no kind is necessary
 * @param patience @default one try
 */
export async function listVisibleObjects(
  client: CloudClient,
  isNeeded: (kind: CloudObjectKind) => boolean = () => false,
  patience: ProxyPatience = { tries: 1, interval: 0 },
): Promise<VisibleObjects> {
  const perKind = await Promise.all(
    inventoryKinds.map(async (kind): Promise<VisibleObjects> => {
      try {
        const objects = await listPatiently(client, kind, patience);
        return { objects, hidden: [], lacking: [] };
      } catch (error) {
        if (isLacking(kind, error)) return { objects: [], hidden: [], lacking: [kind] };
        if (!isHidden(kind, error) || isNeeded(kind)) throw error;
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

/**
 * Lists all objects of the project. Throws if the user cannot list a kind. Callers compare the
 * lists before `up` and after `destroy`, and a comparison of incomplete lists proves nothing.
 */
export const takeInventory = async (client: CloudClient): Promise<CloudObject[]> => [
  ...(await listVisibleObjects(client, () => true)).objects,
];

/**
 * Returns whether the object is a DHCP port. Neutron creates and deletes DHCP ports together with
 * their network.
 */
const selfMade = (object: CloudObject): boolean =>
  object.kind === "port" && object.owner === "network:dhcp";

export interface InventoryDifference {
  readonly added: readonly CloudObject[];
  readonly removed: readonly CloudObject[];
}

/** Returns the objects that are in only one of the two lists. Ignores DHCP ports. */
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
