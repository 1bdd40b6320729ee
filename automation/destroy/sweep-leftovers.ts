import type { CloudClient } from "../../openstack/client/cloud-client.js";
import {
  listVisibleObjects,
  type CloudObject,
  type Kind,
} from "../../openstack/inventory/inventory.js";
import {
  deleteOrphans,
  isIrreplaceable,
  orphansIn,
  type Orphan,
} from "../../openstack/inventory/marked-objects.js";
import { hasData } from "../../openstack/inventory/ownership.js";
import { Failure } from "../../base/failures/failure.js";
import { isKeptByDestroy } from "../repair/object-attribution.js";
import type { KeptObject } from "../engine/operation-options.js";
import { orphansCommandLine } from "../orphans/orphan-summary.js";
import type { StackOperation } from "../engine/operation-context.js";
import { stackHoldings, type StateExport } from "../pulumi/stack-state.js";

export interface SweepOptions {
  readonly cloud: CloudClient;
  /**
   * Identities of the clusters in the state. Only objects with one of these identities are deleted.
   */
  readonly identities: ReadonlySet<string>;
  /** IDs of everything in the state before the destroy. */
  readonly owned: ReadonlySet<string>;
  /** IDs of retained objects, even if these are no longer in the state. */
  readonly retained: ReadonlySet<string>;
  readonly signal?: AbortSignal;
  readonly onDelete?: (orphan: Orphan) => void;
  /** Called with a sentence about a deletion that takes long. */
  readonly onWait?: (text: string) => void;
  /** Milliseconds between two checks. */
  readonly interval?: number;
}

export interface SweepResult {
  readonly deleted: readonly Orphan[];
  /**
   * Retained objects, and volumes, snapshots and floating IPs that the cluster's controllers did
   * not delete.
   */
  readonly kept: readonly KeptObject[];
  /**
   * Kinds of objects that the cloud does not show to this user, so they were not searched. Absent
   * if there are none.
   */
  readonly hidden?: readonly Kind[];
}

const named = (objects: readonly CloudObject[]): string =>
  objects.map(({ kind, name, id }) => `${kind} '${name === "" ? id : name}'`).join(", ");

/**
 * Returns advice for remaining objects: a command for objects with an identity, or else their IDs.
 */
function deletionAdvice(marked: readonly Orphan[], others: readonly CloudObject[]): string {
  const identities = new Set(marked.map(({ mark }) => mark.identity));
  const data = marked.some(hasData) ? " --volumes" : "";
  const commands = [...identities].map((one) => orphansCommandLine(one) + data).join("; ");
  return [
    ...(marked.length > 0 ? [`Delete those with the cluster's identity by \`${commands}\`.`] : []),
    ...(others.length > 0
      ? [`Delete those without it by hand, by ID: ${others.map(({ id }) => id).join(", ")}.`]
      : []),
  ].join(" ");
}

/**
 * Deletes the remaining objects with the clusters' identities, except objects that are retained or
 * cannot be recreated. Then lists the whole project again. Throws if the cloud still shows another
 * object with these identities, or an object of the state before the destroy.
 */
export async function sweepLeftovers(options: SweepOptions): Promise<SweepResult> {
  const { cloud, identities, owned, retained, signal, onDelete, onWait, interval } = options;
  const stays = (one: Orphan): boolean => isIrreplaceable(one) || isKeptByDestroy(one, options);
  const { objects: before, hidden } = await listVisibleObjects(cloud);
  const found = orphansIn(before, identities);
  const deleted = found.filter((orphan) => !stays(orphan));
  await deleteOrphans(cloud, deleted, { signal, onDelete, onWait, interval });
  const after = deleted.length === 0 ? before : (await listVisibleObjects(cloud)).objects;
  const marked = orphansIn(after, identities).filter((one) => !stays(one));
  const known = new Set(marked.map(({ id }) => id));
  const others = after.filter(({ id }) => owned.has(id) && !retained.has(id) && !known.has(id));
  if (marked.length + others.length > 0)
    throw new Failure(
      "FAILED",
      `These objects were not deleted: ${named([...marked, ...others])}.`,
      deletionAdvice(marked, others),
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

/** Deletes remaining objects after a destroy. `state` is the state before the destroy. */
export async function sweepAfterDestroy(
  run: StackOperation,
  state: StateExport | undefined,
): Promise<SweepResult> {
  run.stage("sweep");
  return sweepLeftovers({
    cloud: await run.cloud(),
    ...stackHoldings(state),
    signal: run.options.signal,
    onWait: (text) => {
      run.note(text);
    },
    onDelete: ({ kind, name, claim }) => {
      run.stage("sweep", `deleting the ${kind} '${name}' (${claim})`);
    },
  });
}
