import type { CloudClient } from "../../../cloud/client.js";
import { compareInventories, takeInventory, type CloudObject } from "../../../cloud/inventory.js";
import { findOrphans } from "../../../cloud/orphans.js";

/** What came into the project since then and carries none of these identities, as `<kind> <name>`. */
export async function unmarkedSince(
  before: readonly CloudObject[],
  cloud: CloudClient,
  identities: ReadonlySet<string>,
): Promise<string[]> {
  const { added } = compareInventories(before, await takeInventory(cloud));
  const marked = new Set((await findOrphans(cloud, identities)).map(({ id }) => id));
  // Neutron's and Octavia's own ports come and go with what they belong to.
  const bare = added.filter(
    ({ id, kind, owner }) =>
      !marked.has(id) && !(kind === "port" && owner !== "" && !owner.startsWith("compute:")),
  );
  return bare.map(({ kind, name }) => `${kind} ${name}`);
}
