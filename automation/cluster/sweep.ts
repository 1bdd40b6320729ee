import type { CloudClient } from "../../cloud/client.js";
import { takeShown, type CloudObject, type Kind } from "../../cloud/inventory.js";
import { deleteOrphans, irreplaceable, orphansIn, type Orphan } from "../../cloud/orphans.js";
import { hasData } from "../../cloud/ownership.js";
import { ClusterError } from "./cluster-error.js";
import { isSpared } from "./leftovers.js";
import type { KeptObject } from "./options.js";
import { orphansCommand } from "./orphans.js";
import type { Run } from "./run.js";
import { heldBy, type StateExport } from "./state.js";

export interface SweepOptions {
  readonly cloud: CloudClient;
  /** Identities of the clusters that the stack held. Nothing with another one, or with none, is touched. */
  readonly identities: ReadonlySet<string>;
  /** Ids of everything that the stack held before it was destroyed. */
  readonly owned: ReadonlySet<string>;
  /** Ids of what was to stay, also of what the stack held before that. */
  readonly retained: ReadonlySet<string>;
  readonly signal?: AbortSignal;
  readonly onDelete?: (orphan: Orphan) => void;
  /** Hears in one sentence what takes long. */
  readonly onWait?: (text: string) => void;
  /** Milliseconds between two looks. */
  readonly interval?: number;
}

export interface Swept {
  readonly deleted: readonly Orphan[];
  /** What the program has stay, and what cannot be made again and the cluster itself did not delete. */
  readonly kept: readonly KeptObject[];
  /** Kinds that the cloud does not show: of these nobody looked for anything. Absent when there are none. */
  readonly hidden?: readonly Kind[];
}

const named = (objects: readonly CloudObject[]): string =>
  objects.map(({ kind, name, id }) => `${kind} '${name === "" ? id : name}'`).join(", ");

/** How whoever is told of it has it deleted: by its mark, else by hand. */
function wayOut(marked: readonly Orphan[], others: readonly CloudObject[]): string {
  const identities = new Set(marked.map(({ mark }) => mark.identity));
  const data = marked.some(hasData) ? " --volumes" : "";
  const commands = [...identities].map((one) => orphansCommand(one) + data).join("; ");
  return [
    ...(marked.length > 0 ? [`What carries the cluster's identity, \`${commands}\` deletes.`] : []),
    ...(others.length > 0
      ? [`Delete by hand what carries none, by its ID: ${others.map(({ id }) => id).join(", ")}.`]
      : []),
  ].join(" ");
}

/**
 * Deletes what still carries the clusters' identities, except what cannot be made again or is to stay, and then looks at the whole
 * project again. Returns only when nothing else of them and nothing that the stack held is left of what the cloud shows: what is
 * said afterwards is true.
 */
export async function sweep(options: SweepOptions): Promise<Swept> {
  const { cloud, identities, owned, retained, signal, onDelete, onWait, interval } = options;
  const stays = (one: Orphan): boolean => irreplaceable(one) || isSpared(one, options);
  const { objects: before, hidden } = await takeShown(cloud);
  const found = orphansIn(before, identities);
  const deleted = found.filter((orphan) => !stays(orphan));
  await deleteOrphans(cloud, deleted, { signal, onDelete, onWait, interval });
  const after = deleted.length === 0 ? before : (await takeShown(cloud)).objects;
  const marked = orphansIn(after, identities).filter((one) => !stays(one));
  const known = new Set(marked.map(({ id }) => id));
  const others = after.filter(({ id }) => owned.has(id) && !retained.has(id) && !known.has(id));
  if (marked.length + others.length > 0)
    throw new ClusterError(
      "FAILED",
      `Still there: ${named([...marked, ...others])}.`,
      wayOut(marked, others),
    );
  const retains = before.filter(({ id }) => retained.has(id));
  return {
    deleted,
    kept: [
      ...found.filter((one) => stays(one) && !retained.has(one.id)),
      ...retains.map((one): KeptObject => ({ ...one, retained: true })),
    ],
    ...(hidden.length > 0 && { hidden }),
  };
}

/** Sweeps after a destroy. `state` is what the stack held before. */
export async function sweepAfter(run: Run, state: StateExport | undefined): Promise<Swept> {
  run.stage("sweep");
  return sweep({
    cloud: await run.cloud(),
    ...heldBy(state),
    signal: run.options.signal,
    onWait: (text) => {
      run.note(text);
    },
    onDelete: ({ kind, name, claim }) => {
      run.stage("sweep", `deleting the ${kind} '${name}' (${claim})`);
    },
  });
}
