import type { CloudClient } from "../../cloud/client.js";
import { takeShown, type CloudObject, type Kind } from "../../cloud/inventory.js";
import { deleteOrphans, irreplaceable, orphansIn, type Orphan } from "../../cloud/orphans.js";
import { ClusterError } from "./cluster-error.js";
import { orphansCommand } from "./orphans.js";
import type { Run } from "./run.js";
import { heldBy, type StateExport } from "./state.js";

export interface SweepOptions {
  readonly cloud: CloudClient;
  /** Identities of the clusters that the stack held. Nothing with another one, or with none, is touched. */
  readonly identities: ReadonlySet<string>;
  /** Ids of everything that the stack held before it was destroyed. */
  readonly owned: ReadonlySet<string>;
  readonly signal?: AbortSignal;
  readonly onDelete?: (orphan: Orphan) => void;
  /** Milliseconds between two looks. */
  readonly interval?: number;
}

export interface Swept {
  readonly deleted: readonly Orphan[];
  /** What cannot be made again and the cluster itself did not delete: volumes with data, floating IPs of Services. */
  readonly kept: readonly Orphan[];
  /** Kinds that the cloud does not show: of these nobody looked for anything. Absent when there are none. */
  readonly hidden?: readonly Kind[];
}

const named = (objects: readonly CloudObject[]): string =>
  objects.map(({ kind, name, id }) => `${kind} '${name === "" ? id : name}'`).join(", ");

/**
 * Deletes what still carries the clusters' identities, except what cannot be made again, and then looks at the whole project again.
 * Returns only when nothing else of them and nothing that the stack held is left of what the cloud shows: what is said afterwards is true.
 */
export async function sweep(options: SweepOptions): Promise<Swept> {
  const { cloud, identities, owned, signal, onDelete, interval } = options;
  const { objects: before, hidden } = await takeShown(cloud);
  const found = orphansIn(before, identities);
  const kept = found.filter(irreplaceable);
  const deleted = found.filter((orphan) => !irreplaceable(orphan));
  await deleteOrphans(cloud, deleted, { signal, onDelete, interval });
  const after = deleted.length === 0 ? before : (await takeShown(cloud)).objects;
  const marked = orphansIn(after, identities).filter((one) => !irreplaceable(one));
  const held = after.filter(({ id }) => owned.has(id));
  const left = [...marked, ...held.filter(({ id }) => !marked.some((one) => one.id === id))];
  if (left.length > 0)
    throw new ClusterError(
      "FAILED",
      `Still there: ${named(left)}.`,
      identities.size === 0
        ? `Delete it by hand, by its ID: ${left.map(({ id }) => id).join(", ")}.`
        : `It carries the cluster's identity: \`${[...identities].map(orphansCommand).join("; ")}\` deletes it.`,
    );
  return { deleted, kept, ...(hidden.length > 0 && { hidden }) };
}

/** Sweeps after a destroy. `state` is what the stack held before. */
export async function sweepAfter(run: Run, state: StateExport | undefined): Promise<Swept> {
  run.stage("sweep");
  return sweep({
    cloud: await run.cloud(),
    ...heldBy(state),
    signal: run.options.signal,
    onDelete: ({ kind, name, claim }) => {
      run.stage("sweep", `deleting the ${kind} '${name}' (${claim})`);
    },
  });
}
