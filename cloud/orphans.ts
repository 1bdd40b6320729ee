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

/** An object of a cluster, found by the mark on it. */
export interface Orphan extends CloudObject, Ownership {}

/** Everything in the project that carries a cluster's mark, or that the cluster's own controllers made, as far as the cloud shows it. */
export async function findMarked(
  client: CloudClient,
): Promise<Shown & { readonly found: readonly Orphan[] }> {
  const shown = await takeShown(client);
  return { ...shown, found: markedIn(shown.objects) };
}

/** The same of what the project has. */
function markedIn(all: readonly CloudObject[]): Orphan[] {
  const found = all.flatMap((object): Orphan[] => {
    const ownership = ownershipOf(object);
    return ownership === undefined ? [] : [{ ...object, ...ownership }];
  });
  const marks = new Map(found.map(({ id, mark }) => [id, mark]));
  // Those of earlier releases have no identity in their names: their members speak for them.
  const serverGroups = all.flatMap((group): Orphan[] => {
    if (group.kind !== "server group" || marks.has(group.id)) return [];
    const [mark, ...others] = group.members.map((id) => marks.get(id));
    const same = others.every((other) => other?.identity === mark?.identity);
    return mark && same ? [{ ...group, mark, claim: "server group of marked servers" }] : [];
  });
  return [...found, ...serverGroups];
}

/** What carries one of these identities. */
export async function findOrphans(
  client: CloudClient,
  identities: ReadonlySet<string>,
): Promise<Orphan[]> {
  return orphansIn(await takeInventory(client), identities);
}

/** The same of what the project has. */
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
 * What cannot be made again: volumes that the cluster's storage driver made and snapshots of them, with their data, and the
 * floating IPs of its Services, which are in somebody's DNS and lists. The cloud knows neither reclaim policies nor annotations: what the
 * cluster itself did not delete may be kept on purpose, so it stays unless somebody says otherwise.
 */
export const irreplaceable = ({ claim }: Orphan): boolean => kept.has(claim);

interface Deletion {
  readonly service: Service;
  readonly path: (object: CloudObject, client: CloudClient) => string;
  /** See {@link bounds}. */
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
    // Of one in ERROR Octavia deletes nothing but all of it.
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

/** The paths of a credential's access rules, which Keystone keeps when it goes. */
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
 * Deletes the rules of a credential that is gone: who looks later finds no credential that names them. Keystone refuses to delete one that
 * another credential has too.
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
    `The credential is gone, but of its access rules these are left: ${left.join(", ")} (${why instanceof Error ? why.message : String(why)}).`,
    `Delete them: \`openstack access rule delete ${left.join(" ")}\`.`,
  );
}

/** An object as something that is waited for. */
const waitedFor = ({ kind, name, id }: CloudObject): Waited => ({
  what: `${kind} '${name}' (${id})`,
  bound: deletions[kind].bound,
});

/** Asks for the deletion of one object, as soon as nothing uses it any more. Answers whether it was gone. */
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

/** Deletes one object and waits until its service no longer lists it. */
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
        "Run the same command again: it asks for it once more. If that ends in the same way, the cloud's operator can see why.",
      );
    begun ||= there.status === "PENDING_DELETE";
    if (wait.isOver)
      throw new CloudError(
        "failed",
        `The ${object.kind} '${object.name}' (${object.id}) was deleted but is still there.`,
        "Look at it with the openstack client; its service may be stuck.",
      );
    const now = there.status === "" ? "it is still there" : `its status is ${there.status}`;
    await wait.pause(`it was deleted, and ${now}`);
  }
}

/** So many are deleted at once: of hundreds of volumes each has its own time then, and the cloud is not asked hundreds of times a second. */
const atOnce = 20;

/** Does the work for each, some at once. Each has come to its end, well or not, before the first error is thrown. */
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
 * Deletes orphans in an order in which nothing is still in use; reports each before it starts. Of a kind each has come to its end, well
 * or not, before the first error is thrown: nothing goes on behind the back of whoever called.
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
