import type { CloudClient } from "../../../cloud/client.js";
import { compareInventories, takeInventory, type CloudObject } from "../../../cloud/inventory.js";
import { findOrphans } from "../../../cloud/orphans.js";

/** Whether it is one of Neutron's and Octavia's own ports, which come and go with what they belong to. */
export const isServicePort = ({ kind, owner }: CloudObject): boolean =>
  kind === "port" && owner !== "" && !owner.startsWith("compute:");

/** What came into the project since then and carries none of these identities, as `<kind> <name>`. */
export async function unmarkedSince(
  before: readonly CloudObject[],
  cloud: CloudClient,
  identities: ReadonlySet<string>,
): Promise<string[]> {
  const { added } = compareInventories(before, await takeInventory(cloud));
  const marked = new Set((await findOrphans(cloud, identities)).map(({ id }) => id));
  const bare = added.filter((one) => !marked.has(one.id) && !isServicePort(one));
  return bare.map(({ kind, name }) => `${kind} ${name}`);
}
