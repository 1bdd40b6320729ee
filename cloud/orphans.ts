import { z } from "zod";
import { CloudError, isHidden } from "./cloud-error.js";
import type { CloudClient, Service } from "./client.js";
import { bounds, gone, Wait, whileInUse, type DeleteOptions, type Waited } from "./in-use.js";
import {
  kinds,
  listObjects,
  takeInventory,
  takeShown,
  type CloudObject,
  type Kind,
  type Shown,
} from "./inventory.js";
import { isIdentity, ownershipOf, type Claim, type Ownership } from "./ownership.js";
import { emptyRouter } from "./routers.js";

/** Object with a cluster's mark, and the cluster that it belongs to. */
export interface Orphan extends CloudObject, Ownership {}

/**
 * Lists all objects in the project that carry a cluster's mark or that a cluster's controllers
 * created. Kinds that the cloud hides are listed in `hidden`.
 */
export async function findMarked(
  client: CloudClient,
): Promise<Shown & { readonly found: readonly Orphan[] }> {
  const shown = await takeShown(client);
  return { ...shown, found: markedIn(shown.objects) };
}

/** Returns the objects that belong to any cluster. */
function markedIn(all: readonly CloudObject[]): Orphan[] {
  const found = all.flatMap((object): Orphan[] => {
    const ownership = ownershipOf(object);
    return ownership === undefined ? [] : [{ ...object, ...ownership }];
  });
  const marks = new Map(found.map(({ id, mark }) => [id, mark]));
  // Server groups of earlier releases have no identity in their names. They belong to the cluster
  // of their members.
  const serverGroups = all.flatMap((group): Orphan[] => {
    if (group.kind !== "server group" || marks.has(group.id)) return [];
    const [mark, ...others] = group.members.map((id) => marks.get(id));
    const same = others.every((other) => other?.identity === mark?.identity);
    return mark && same ? [{ ...group, mark, claim: "server group of marked servers" }] : [];
  });
  return [...found, ...serverGroups];
}

/** Lists the objects in the project that carry one of these identities. */
export async function findOrphans(
  client: CloudClient,
  identities: ReadonlySet<string>,
): Promise<Orphan[]> {
  return orphansIn(await takeInventory(client), identities);
}

/** Returns the objects that carry one of these identities. */
export const orphansIn = (
  inventory: readonly CloudObject[],
  identities: ReadonlySet<string>,
): Orphan[] =>
  markedIn(inventory).filter(
    ({ mark }) => isIdentity(mark.identity) && identities.has(mark.identity),
  );

const kept: ReadonlySet<Claim> = new Set([
  "volume of a PersistentVolume",
  "snapshot of a PersistentVolume",
  "floating IP of a Service",
]);

/**
 * Returns whether an object cannot be recreated: volumes of the cluster's storage driver and their
 * snapshots, which contain data, and floating IPs of Services, which DNS entries and allow lists
 * may contain. The cloud does not know reclaim policies and annotations, so objects that the
 * cluster did not delete may be kept on purpose. They are kept unless the user asks for their
 * deletion.
 */
export const irreplaceable = ({ claim }: Orphan): boolean => kept.has(claim);

interface Deletion {
  readonly service: Service;
  readonly path: (object: CloudObject, client: CloudClient) => string;
  /** Time limit of the deletion, see {@link bounds}. */
  readonly bound: number;
}

const byId = (
  service: Service,
  collection: string,
  { bound = bounds.other, query = "" }: { readonly bound?: number; readonly query?: string } = {},
): Deletion => ({
  ...{ service, bound },
  path: ({ id }) => `${collection}/${encodeURIComponent(id)}${query}`,
});

const deletions: Readonly<Record<Kind, Deletion>> = {
  "load balancer": byId("load-balancer", "/lbaas/loadbalancers", {
    bound: bounds.balancer,
    // Octavia deletes a load balancer in ERROR only together with all its parts.
    query: "?cascade=true",
  }),
  server: byId("compute", "/servers", { bound: bounds.machine }),
  "floating IP": byId("network", "/floatingips"),
  "volume snapshot": byId("volumev3", "/snapshots", { bound: bounds.machine }),
  volume: byId("volumev3", "/volumes", { bound: bounds.machine }),
  router: byId("network", "/routers"),
  port: byId("network", "/ports"),
  subnet: byId("network", "/subnets"),
  network: byId("network", "/networks"),
  "security group": byId("network", "/security-groups"),
  "server group": byId("compute", "/os-server-groups"),
  "key pair": byId("compute", "/os-keypairs"),
  "application credential": {
    ...{ service: "identity", bound: bounds.other },
    path: ({ id }, { userId }) => `/users/${userId}/application_credentials/${id}`,
  },
};

const ruled = z.object({
  application_credential: z.object({
    access_rules: z.array(z.looseObject({ id: z.string() })).nullish(),
  }),
});

/**
 * Returns the paths of a credential's access rules, which Keystone keeps when the credential is
 * deleted.
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
 * Deletes the access rules of a deleted credential; nothing else refers to them afterwards.
 * Keystone refuses to delete a rule that another credential uses.
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

/** Returns the object in the form for messages about waiting. */
const waitedFor = ({ kind, name, id }: CloudObject): Waited => ({
  what: `${kind} '${name}' (${id})`,
  bound: deletions[kind].bound,
});

/**
 * Requests the deletion of an object as soon as nothing uses it. Returns whether it was already
 * gone.
 */
export async function beginDeletion(
  client: CloudClient,
  object: CloudObject,
  options: DeleteOptions = {},
): Promise<boolean> {
  const { service, path } = deletions[object.kind];
  options.signal?.throwIfAborted();
  if (object.kind === "router") await emptyRouter(client, object.id, options);
  const target = path(object, client);
  const rules = object.kind === "application credential" ? await accessRulesOf(client, target) : [];
  const none = await whileInUse(
    () => gone(client.request(service, "DELETE", target)),
    waitedFor(object),
    options,
  );
  await deleteAccessRules(client, rules);
  return none;
}

/** Deletes an object and waits until its service no longer lists it. */
export async function deleteObject(
  client: CloudClient,
  object: CloudObject,
  options: DeleteOptions = {},
): Promise<void> {
  if (await beginDeletion(client, object, options)) return;
  const wait = new Wait(waitedFor(object), options);
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
 * Number of deletions at the same time, so that each of hundreds of volumes has its own time limit
 * and the cloud is not flooded with requests.
 */
const atOnce = 20;

/**
 * Processes all items, several at a time. Waits for all of them before it throws the first error.
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
 * Deletes objects kind by kind, so that none is still in use, and reports each before it starts.
 * All deletions of a kind finish before the first error is thrown, so none continues after this
 * function.
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
