import type { CloudClient } from "../../../../openstack/client/cloud-client.js";
import {
  compareInventories,
  takeInventory,
  type CloudObject,
} from "../../../../openstack/inventory/inventory.js";
import { findOwnedObjects } from "../../../../openstack/inventory/marked-objects.js";

/** Returns whether an object is a port that Neutron or Octavia manages for another object. */
export const isServicePort = ({ kind, owner }: CloudObject): boolean =>
  kind === "port" && owner !== "" && !owner.startsWith("compute:");

/**
 * Returns the objects that were added to the project without one of these identities, as `<kind>
 * <name>`.
 */
export async function unmarkedSince(
  before: readonly CloudObject[],
  cloud: CloudClient,
  identities: ReadonlySet<string>,
): Promise<string[]> {
  const { added } = compareInventories(before, await takeInventory(cloud));
  const marked = new Set((await findOwnedObjects(cloud, identities)).map(({ id }) => id));
  const bare = added.filter((one) => !marked.has(one.id) && !isServicePort(one));
  return bare.map(({ kind, name }) => `${kind} ${name}`);
}
