import { z } from "zod";
import { CloudError, isHidden } from "../http/cloud-error.js";
import type { CloudClient, Service } from "../client/cloud-client.js";
import {
  deletionTimeouts,
  wasGone,
  WaitOptions,
  retryWhileInUse,
  type DeleteOptions,
  type AwaitedObject,
} from "./wait-until-unused.js";
import {
  kinds,
  listObjects,
  takeInventory,
  listVisibleObjects,
  type CloudObject,
  type Kind,
  type VisibleObjects,
} from "./inventory.js";
import { isIdentity, ownershipOf, type OwnershipEvidence, type Ownership } from "./ownership.js";
import { removeRoutesAndInterfaces } from "./router-interfaces.js";

/** Object of a cluster in the cloud: the object, the cluster's mark and the evidence. */
export interface Orphan extends CloudObject, Ownership {}

/**
 * Lists the objects in the project that belong to any cluster: objects with a cluster's mark, and
 * objects that a cluster's controllers created. `hidden` contains the kinds that the user cannot
 * list.
 */
export async function findMarked(
  client: CloudClient,
): Promise<VisibleObjects & { readonly found: readonly Orphan[] }> {
  const shown = await listVisibleObjects(client);
  return { ...shown, found: markedIn(shown.objects) };
}

/** Returns the objects that belong to any cluster. */
function markedIn(all: readonly CloudObject[]): Orphan[] {
  const found = all.flatMap((object): Orphan[] => {
    const ownership = ownershipOf(object);
    return ownership === undefined ? [] : [{ ...object, ...ownership }];
  });
  const marks = new Map(found.map(({ id, mark }) => [id, mark]));
  // Server groups of earlier releases have no identity in their names. Such a group belongs to the
  // cluster to which all servers in the group belong.
  const serverGroups = all.flatMap((group): Orphan[] => {
    if (group.kind !== "server group" || marks.has(group.id)) return [];
    const [mark, ...others] = group.members.map((id) => marks.get(id));
    const same = others.every((other) => other?.identity === mark?.identity);
    return mark && same ? [{ ...group, mark, claim: "server group of marked servers" }] : [];
  });
  return [...found, ...serverGroups];
}

/** Lists the objects in the project that belong to the clusters with these identities. */
export async function findOrphans(
  client: CloudClient,
  identities: ReadonlySet<string>,
): Promise<Orphan[]> {
  return orphansIn(await takeInventory(client), identities);
}

/** Returns the objects that belong to the clusters with these identities. */
export const orphansIn = (
  inventory: readonly CloudObject[],
  identities: ReadonlySet<string>,
): Orphan[] =>
  markedIn(inventory).filter(
    ({ mark }) => isIdentity(mark.identity) && identities.has(mark.identity),
  );

const kept: ReadonlySet<OwnershipEvidence> = new Set([
  "volume of a PersistentVolume",
  "snapshot of a PersistentVolume",
  "floating IP of a Service",
]);

/**
 * Returns whether an object must be kept unless the user asks for its deletion: a volume of a
 * PersistentVolume or its snapshot, which contains data, or a floating IP of a Service, which DNS
 * records and allow lists may contain. If the cluster's controllers did not delete such an object,
 * a reclaim policy or annotation, which OpenStack does not show, may be the reason.
 */
export const isIrreplaceable = ({ claim }: Orphan): boolean => kept.has(claim);

interface Deletion {
  readonly service: Service;
  readonly path: (object: CloudObject, client: CloudClient) => string;
  /** Time limit of the deletion in milliseconds, see {@link deletionTimeouts}. */
  readonly bound: number;
}

const byId = (
  service: Service,
  collection: string,
  {
    bound = deletionTimeouts.other,
    query = "",
  }: { readonly bound?: number; readonly query?: string } = {},
): Deletion => ({
  service,
  bound,
  path: ({ id }) => `${collection}/${encodeURIComponent(id)}${query}`,
});

const deletions: Readonly<Record<Kind, Deletion>> = {
  "load balancer": byId("load-balancer", "/lbaas/loadbalancers", {
    bound: deletionTimeouts.balancer,
    // Octavia deletes a load balancer with status ERROR only together with all parts of the load
    // balancer.
    query: "?cascade=true",
  }),
  server: byId("compute", "/servers", { bound: deletionTimeouts.machine }),
  "floating IP": byId("network", "/floatingips"),
  "volume snapshot": byId("volumev3", "/snapshots", { bound: deletionTimeouts.machine }),
  volume: byId("volumev3", "/volumes", { bound: deletionTimeouts.machine }),
  router: byId("network", "/routers"),
  port: byId("network", "/ports"),
  subnet: byId("network", "/subnets"),
  network: byId("network", "/networks"),
  "security group": byId("network", "/security-groups"),
  "server group": byId("compute", "/os-server-groups"),
  "key pair": byId("compute", "/os-keypairs"),
  "application credential": {
    service: "identity",
    bound: deletionTimeouts.other,
    path: ({ id }, { userId }) => `/users/${userId}/application_credentials/${id}`,
  },
};

const ruled = z.object({
  application_credential: z.object({
    access_rules: z.array(z.looseObject({ id: z.string() })).nullish(),
  }),
});

/**
 * Returns the paths of the access rules of a credential. Keystone does not delete access rules
 * together with the credential.
 */
async function accessRulesOf(client: CloudClient, credential: string): Promise<string[]> {
  try {
    const { application_credential: found } = ruled.parse(
      await client.request("identity", "GET", credential),
    );
    const user = `/users/${client.userId}`;
    return (found.access_rules ?? []).map(({ id }) => `${user}/access_rules/${id}`);
  } catch (error) {
    if (isHidden(error)) return [];
    throw error;
  }
}

/**
 * Deletes the access rules of a deleted credential. No other object refers to these rules, so no
 * later run could find them. Skips a rule that Keystone forbids to delete, because another
 * credential uses it. Throws an error with the IDs of rules that remain for other reasons.
 */
async function deleteAccessRules(client: CloudClient, paths: readonly string[]): Promise<void> {
  const left: string[] = [];
  let why: unknown;
  for (const path of paths) {
    try {
      await client.request("identity", "DELETE", path);
    } catch (error) {
      if (isHidden(error)) continue;
      why = error;
      left.push(path.replace(/.*\//, ""));
    }
  }
  if (left.length === 0) return;
  throw new CloudError(
    "failed",
    `The application credential was deleted, but these access rules of it are left: ${left.join(", ")} (${why instanceof Error ? why.message : String(why)}).`,
    `Delete them: \`openstack access rule delete ${left.join(" ")}\`.`,
  );
}

/** Returns the object's description and time limit for {@link WaitOptions}. */
const waitedFor = ({ kind, name, id }: CloudObject): AwaitedObject => ({
  what: `${kind} '${name}' (${id})`,
  bound: deletions[kind].bound,
});

/**
 * Requests the deletion of an object. Repeats the request while another object uses the object.
 * Returns whether the object did not exist any more.
 */
export async function beginDeletion(
  client: CloudClient,
  object: CloudObject,
  options: DeleteOptions = {},
): Promise<boolean> {
  const { service, path } = deletions[object.kind];
  options.signal?.throwIfAborted();
  if (object.kind === "router") await removeRoutesAndInterfaces(client, object.id, options);
  const target = path(object, client);
  const rules = object.kind === "application credential" ? await accessRulesOf(client, target) : [];
  const none = await retryWhileInUse(
    () => wasGone(client.request(service, "DELETE", target)),
    waitedFor(object),
    options,
  );
  await deleteAccessRules(client, rules);
  return none;
}

/** Deletes an object and waits until the object's service no longer lists the object. */
export async function deleteObject(
  client: CloudClient,
  object: CloudObject,
  options: DeleteOptions = {},
): Promise<void> {
  if (await beginDeletion(client, object, options)) return;
  const wait = new WaitOptions(waitedFor(object), options);
  let begun = false;
  for (;;) {
    const rest = await listObjects(client, object.kind);
    const there = rest.find(({ id, status }) => id === object.id && status !== "DELETED");
    if (!there) return;
    if (begun && there.status === "ERROR")
      throw new CloudError(
        "failed",
        `The ${object.kind} '${object.name}' (${object.id}) could not be deleted: its status is ERROR after the attempt.`,
        "Run the same command again: it tries to delete it again. If that fails, too, ask the cloud's operator.",
      );
    begun ||= there.status === "PENDING_DELETE";
    if (wait.isOver)
      throw new CloudError(
        "failed",
        `The ${object.kind} '${object.name}' (${object.id}) was deleted but is still there.`,
        "Check it with the openstack client; its service may be stuck.",
      );
    const now = there.status === "" ? "it is still there" : `its status is ${there.status}`;
    await wait.pause(`it was deleted, and ${now}`);
  }
}

/**
 * Number of parallel deletions. Among hundreds of volumes, each volume's time limit begins only
 * when its deletion begins, and the cloud does not get hundreds of requests at the same time.
 */
const atOnce = 20;

/**
 * Calls `work` for all items, up to {@link atOnce} at the same time. Waits for all calls before it
 * throws the first error.
 */
async function someAtOnce<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  const errors: unknown[] = [];
  const one = async (): Promise<void> => {
    for (const item of rest) await work(item).catch((error: unknown) => errors.push(error));
  };
  await Promise.all(Array.from({ length: atOnce }, one));
  if (errors.length > 0) throw errors[0];
}

/**
 * Deletes objects kind by kind, so that no remaining object uses an object to delete. Calls
 * `onDelete` before each deletion. Throws the first error after all deletions of the kind have
 * ended, so that no deletion continues in the background.
 */
export async function deleteOrphans<Found extends CloudObject>(
  client: CloudClient,
  orphans: readonly Found[],
  options: DeleteOptions & { readonly onDelete?: (orphan: Found) => void } = {},
): Promise<void> {
  for (const kind of kinds) {
    const ofKind = orphans.filter((orphan) => orphan.kind === kind);
    await someAtOnce(ofKind, async (orphan) => {
      options.signal?.throwIfAborted();
      options.onDelete?.(orphan);
      await deleteObject(client, orphan, options);
    });
  }
}
