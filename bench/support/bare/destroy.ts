import { setTimeout as pause } from "node:timers/promises";
import { CloudError } from "../../../cloud/cloud-error.js";
import type { CloudClient } from "../../../cloud/client.js";
import {
  compareInventories,
  listObjects,
  takeInventory,
  type CloudObject,
  type Kind,
} from "../../../cloud/inventory.js";
import { beginDeletion } from "../../../cloud/orphans.js";

/** Milliseconds: between two looks, and how long something may still be in use or going. */
const times = { interval: 300, patience: 120_000 };

/** What may go at once, and the chains that begin when it is gone. With its network a subnet goes, with its router an interface. */
const atOnce: readonly Kind[] = [
  ...(["application credential", "load balancer", "server", "floating IP"] as const),
  "server group",
];
const chains: readonly (readonly (readonly Kind[])[])[] = [
  [["volume snapshot"], ["volume"]],
  [["port"], ["security group", "router"], ["network"]],
];

/** Ports of routers and of DHCP go with those. */
const ownPort = ({ kind, owner }: CloudObject): boolean =>
  kind !== "port" || owner === "" || owner.startsWith("compute:");

/** A volume is let go of a moment after its machine is gone, and Cinder has other words for that than a conflict. */
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

/** Deletes what came since, in the order in which it can go and as much at a time as possible. */
export async function bareDestroy(
  client: CloudClient,
  initially: readonly CloudObject[],
): Promise<void> {
  const added = async (kind: Kind): Promise<CloudObject[]> => {
    const same = (all: readonly CloudObject[]) => all.filter((one) => one.kind === kind);
    const now = (await listObjects(client, kind)).filter(({ status }) => status !== "DELETED");
    return [...compareInventories(same(initially), now).added].filter(ownPort);
  };
  const remove = async (kind: Kind): Promise<void> => {
    const found = await added(kind);
    await Promise.all(found.map((object) => begin(client, object)));
    const end = Date.now() + times.patience;
    for (let left = found; left.length > 0; left = await added(kind)) {
      if (Date.now() > end) throw new Error(`A ${kind} does not go: ${left[0]?.id ?? ""}.`);
      await pause(times.interval);
    }
  };
  const together = (kinds: readonly Kind[]): Promise<unknown> => Promise.all(kinds.map(remove));
  const inTurn = async (links: readonly (readonly Kind[])[]): Promise<void> => {
    for (const link of links) await together(link);
  };
  const left = async (): Promise<readonly CloudObject[]> =>
    compareInventories(initially, await takeInventory(client)).added;
  // A controller may have made something while it was losing its cloud.
  do {
    await together(atOnce);
    await Promise.all(chains.map(inTurn));
  } while ((await left()).length > 0);
}
