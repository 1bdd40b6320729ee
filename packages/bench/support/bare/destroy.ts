import { setTimeout as pause } from "node:timers/promises";
import { CloudError } from "../../../../openstack/http/cloud-error.js";
import type { CloudClient } from "../../../../openstack/client/cloud-client.js";
import {
  compareInventories,
  listObjects,
  takeInventory,
  type CloudObject,
  type CloudObjectKind,
} from "../../../../openstack/inventory/inventory.js";
import { beginDeletion } from "../../../../openstack/inventory/marked-objects.js";

/**
 * Times in milliseconds: the interval between two reads, and the longest time that an object may be
 * in use or may take to disappear (`patience`).
 */
const times = { interval: 300, patience: 120_000 };

/**
 * Kinds that can be deleted at once. `chains` lists the kinds that must be deleted one after
 * another. Deleting a network also deletes its subnets. Deleting a router also deletes its
 * interfaces.
 */
const atOnce: readonly CloudObjectKind[] = [
  ...(["application credential", "load balancer", "server", "floating IP"] as const),
  "server group",
];
const chains: readonly (readonly (readonly CloudObjectKind[])[])[] = [
  [["volume snapshot"], ["volume"]],
  [["port"], ["security group", "router"], ["network"]],
];

/**
 * Returns whether the object must be deleted by a separate call. OpenStack deletes the ports of
 * routers and of DHCP together with their owners.
 */
const needsSeparateDeletion = ({ kind, owner }: CloudObject): boolean =>
  kind !== "port" || owner === "" || owner.startsWith("compute:");

/**
 * Begins a deletion, and retries calls that fail. Cinder releases a volume shortly after its server
 * is deleted. Until then, Cinder answers with errors other than a conflict.
 */
async function begin(client: CloudClient, object: CloudObject): Promise<void> {
  const end = Date.now() + times.patience;
  for (;;) {
    try {
      await beginDeletion(client, object, { interval: times.interval });
      return;
    } catch (error) {
      if (!(error instanceof CloudError) || Date.now() > end) throw error;
      await pause(times.interval);
    }
  }
}

/**
 * Deletes all objects that were added after the inventory `initially` was taken. Deletes them in
 * parallel if their dependencies allow it.
 */
export async function deleteAddedObjects(
  client: CloudClient,
  initially: readonly CloudObject[],
): Promise<void> {
  const added = async (kind: CloudObjectKind): Promise<CloudObject[]> => {
    const same = (all: readonly CloudObject[]) => all.filter((one) => one.kind === kind);
    const now = (await listObjects(client, kind)).filter(({ status }) => status !== "DELETED");
    return [...compareInventories(same(initially), now).added].filter(needsSeparateDeletion);
  };
  const remove = async (kind: CloudObjectKind): Promise<void> => {
    const found = await added(kind);
    await Promise.all(found.map((object) => begin(client, object)));
    const end = Date.now() + times.patience;
    for (let left = found; left.length > 0; left = await added(kind)) {
      if (Date.now() > end) throw new Error(`A ${kind} does not go: ${left[0]?.id ?? ""}.`);
      await pause(times.interval);
    }
  };
  const together = (kinds: readonly CloudObjectKind[]): Promise<unknown> =>
    Promise.all(kinds.map(remove));
  const inTurn = async (links: readonly (readonly CloudObjectKind[])[]): Promise<void> => {
    for (const link of links) await together(link);
  };
  const left = async (): Promise<readonly CloudObject[]> =>
    compareInventories(initially, await takeInventory(client)).added;
  // Repeats the deletion, because a controller of the cluster may create an object until the
  // controller's server is deleted.
  do {
    await together(atOnce);
    await Promise.all(chains.map(inTurn));
  } while ((await left()).length > 0);
}
