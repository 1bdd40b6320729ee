import type { CloudClient } from "../../cloud/client.js";
import { takeInventory, type CloudObject } from "../../cloud/inventory.js";
import { deleteOrphans, findOrphans, type Orphan } from "../../cloud/orphans.js";
import { ClusterError } from "./cluster-error.js";

export interface SweepOptions {
  readonly cloud: CloudClient;
  readonly cluster: string;
  /** Ids of everything that the stack held before it was destroyed. */
  readonly owned: ReadonlySet<string>;
  readonly signal?: AbortSignal;
  readonly onDelete?: (orphan: Orphan) => void;
  /** Milliseconds between two looks. */
  readonly interval?: number;
}

const named = (objects: readonly CloudObject[]): string =>
  objects.map(({ kind, name, id }) => `${kind} '${name === "" ? id : name}'`).join(", ");

/**
 * Deletes what still carries the cluster's marks, then looks at the whole project again. Returns only when neither a
 * marked object nor anything that the stack held is left: what is said afterwards is true.
 */
export async function sweep(options: SweepOptions): Promise<readonly Orphan[]> {
  const { cloud, cluster, owned, signal, onDelete, interval } = options;
  const found = await findOrphans(cloud, cluster);
  await deleteOrphans(cloud, found, { signal, onDelete, interval });
  const marked = found.length === 0 ? [] : await findOrphans(cloud, cluster);
  const held = (await takeInventory(cloud)).filter(({ id }) => owned.has(id));
  const left = [...marked, ...held.filter(({ id }) => !marked.some((one) => one.id === id))];
  if (left.length > 0)
    throw new ClusterError(
      "FAILED",
      `Still there: ${named(left)}.`,
      "Run `npx stackadm destroy` again; `npx stackadm orphans --delete` deletes what carries the cluster's marks.",
    );
  return found;
}
