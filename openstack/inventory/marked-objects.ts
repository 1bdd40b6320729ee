import { z } from "zod";
import { CloudError, isDeniedByService } from "../http/cloud-error.js";
import type { CloudClient, ServiceType } from "../client/cloud-client.js";
import {
  deletionTimeouts,
  wasAlreadyGone,
  TimedWait,
  retryWhileInUse,
  type DeleteOptions,
  type AwaitedObject,
} from "./wait-until-unused.js";
import {
  inventoryKinds,
  listObjects,
  takeInventory,
  listVisibleObjects,
  type CloudObject,
  type CloudObjectKind,
  type VisibleObjects,
} from "./inventory.js";
import { deleteServer } from "./delete-server.js";
import { getOwnership, type OwnershipEvidence, type Ownership } from "./ownership.js";
import { removeRoutesAndInterfaces } from "./router-interfaces.js";

/** Object in the cloud that belongs to a cluster. Contains the cluster's mark and the evidence. */
export interface OwnedObject extends CloudObject, Ownership {}

/**
 * Lists the objects in the project that belong to any cluster: objects with a cluster's mark, and
 * objects that a cluster's controllers created. `hidden` contains the kinds that the user cannot
 * list.
 */
export async function findMarkedObjects(
  client: CloudClient,
): Promise<VisibleObjects & { readonly found: readonly OwnedObject[] }> {
  const shown = await listVisibleObjects(client);
  return { ...shown, found: markedIn(shown.objects) };
}

/** Returns the objects that belong to any cluster. */
const markedIn = (all: readonly CloudObject[]): OwnedObject[] =>
  all.flatMap((object) => {
    const ownership = getOwnership(object);
    return ownership === undefined ? [] : [{ ...object, ...ownership }];
  });

/** Lists the objects in the project that belong to the clusters with these identities. */
export async function findOwnedObjects(
  client: CloudClient,
  identities: ReadonlySet<string>,
): Promise<OwnedObject[]> {
  return filterOwnedObjects(await takeInventory(client), identities);
}

/** Returns the objects that belong to the clusters with these identities. */
export const filterOwnedObjects = (
  inventory: readonly CloudObject[],
  identities: ReadonlySet<string>,
): OwnedObject[] => markedIn(inventory).filter(({ mark }) => identities.has(mark.identity));

const kept: ReadonlySet<OwnershipEvidence> = new Set([
  "volume of a PersistentVolume",
  "snapshot of a PersistentVolume",
  "floating IP of a Service",
]);

/**
 * Returns whether an object is deleted only if the user requests its deletion. These objects are
 * volumes of PersistentVolumes and their snapshots, because they contain data. Floating IPs of
 * Services are included, because DNS records and allow lists may contain them. A reclaim policy or
 * an annotation in the cluster may have kept such an object, but OpenStack does not show the policy
 * or the annotation. Objects that a destroy has marked as kept are included, too.
 */
export const isKeptUnlessRequested = (object: OwnedObject): boolean =>
  object.kept === true || kept.has(object.claim);

interface Deletion {
  readonly service: ServiceType;
  readonly path: (object: CloudObject, client: CloudClient) => string;
  /** Time limit of the deletion in milliseconds, see {@link deletionTimeouts}. */
  readonly bound: number;
}

const byId = (
  service: ServiceType,
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

const deletions: Readonly<Record<CloudObjectKind, Deletion>> = {
  "load balancer": byId("load-balancer", "/lbaas/loadbalancers", {
    bound: deletionTimeouts.balancer,
    // A load balancer with status ERROR can be deleted only together with all its parts.
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
 * Returns the paths of the access rules of a credential. Keystone keeps access rules when the
 * credential is deleted.
 */
async function accessRulesOf(client: CloudClient, credential: string): Promise<string[]> {
  try {
    const { application_credential: found } = ruled.parse(
      await client.request("identity", "GET", credential),
    );
    const user = `/users/${client.userId}`;
    return (found.access_rules ?? []).map(({ id }) => `${user}/access_rules/${id}`);
  } catch (error) {
    if (isDeniedByService(error)) return [];
    throw error;
  }
}

/**
 * Deletes the access rules of a deleted credential. No object refers to these rules any more, so no
 * later run could find them. Skips a rule that Keystone refuses to delete because another
 * credential uses it. If rules remain for another reason, throws an error with their IDs.
 */
async function deleteAccessRules(client: CloudClient, paths: readonly string[]): Promise<void> {
  const left: string[] = [];
  let why: unknown;
  for (const path of paths) {
    try {
      await client.request("identity", "DELETE", path);
    } catch (error) {
      if (isDeniedByService(error)) continue;
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

/** Returns the object's description and time limit, for a wait. */
const waitedFor = ({ kind, name, id }: CloudObject): AwaitedObject => ({
  what: `${kind} '${name}' (${id})`,
  bound: deletions[kind].bound,
});

/**
 * Requests the deletion of an object. Repeats the request while the object is in use. Returns
 * whether the object was already gone.
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
  const remove = (): Promise<unknown> =>
    object.kind === "server"
      ? deleteServer(client, target)
      : client.request(service, "DELETE", target);
  const none = await retryWhileInUse(() => wasAlreadyGone(remove()), waitedFor(object), options);
  await deleteAccessRules(client, rules);
  return none;
}

/** Deletes an object and waits until the service no longer lists it. */
export async function deleteObject(
  client: CloudClient,
  object: CloudObject,
  options: DeleteOptions = {},
): Promise<void> {
  if (await beginDeletion(client, object, options)) return;
  const wait = new TimedWait(waitedFor(object), options);
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
 * Number of deletions at the same time. The limit protects the cloud from hundreds of requests at
 * once. The time limit of a deletion begins with its own request, so it does not include the wait
 * for earlier deletions.
 */
const atOnce = 20;

/**
 * Calls `work` for all items, but at most {@link atOnce} calls at the same time. Throws the first
 * error after all calls have ended.
 */
async function someAtOnce<Item>(
  items: readonly Item[],
  work: (item: Item) => Promise<void>,
): Promise<void> {
  const rest = items.values();
  const errors: unknown[] = [];
  const workThroughRest = async (): Promise<void> => {
    for (const item of rest) await work(item).catch((error: unknown) => errors.push(error));
  };
  await Promise.all(Array.from({ length: atOnce }, workThroughRest));
  if (errors.length > 0) throw errors[0];
}

/**
 * Deletes objects kind by kind. In the order of {@link inventoryKinds}, no remaining object uses a
 * deleted object. Calls `onDelete` before each deletion. On an error, first waits for the other
 * deletions of the same kind, so that no deletion continues in the background. Then throws the
 * first error.
 */
export async function deleteOrphans<Found extends CloudObject>(
  client: CloudClient,
  orphans: readonly Found[],
  options: DeleteOptions & { readonly onDelete?: (orphan: Found) => void } = {},
): Promise<void> {
  for (const kind of inventoryKinds) {
    const ofKind = orphans.filter((orphan) => orphan.kind === kind);
    await someAtOnce(ofKind, async (orphan) => {
      options.signal?.throwIfAborted();
      options.onDelete?.(orphan);
      await deleteObject(client, orphan, options);
    });
  }
}
