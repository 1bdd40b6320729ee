import type { CloudClient } from "../../openstack/client/cloud-client.js";
import {
  listVisibleObjects,
  type CloudObject,
  type Kind,
} from "../../openstack/inventory/inventory.js";
import { deleteOrphans, type Orphan } from "../../openstack/inventory/marked-objects.js";
import { hasData } from "../../openstack/inventory/ownership.js";
import { Failure } from "../../base/failures/failure.js";
import { clusterObjects, type ClusterObject } from "../repair/object-attribution.js";
import type { KeptObject } from "../engine/operation-options.js";
import { orphansDeleteCommand } from "../orphans/orphan-summary.js";
import type { Facts, Step } from "../steps/step.js";
import { stackHoldings } from "../pulumi/stack-state.js";

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
  const commands = [...identities].map((one) => orphansDeleteCommand(one) + data).join("; ");
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
  const { cloud, retained, signal, onDelete, onWait, interval } = options;
  const { objects: before, hidden } = await listVisibleObjects(cloud);
  const found = clusterObjects(before, options);
  const isToDelete = ({ disposal }: ClusterObject): boolean => disposal === "delete";
  const deleted = found.filter(isToDelete).flatMap(({ marked = [] }) => marked);
  await deleteOrphans(cloud, deleted, { signal, onDelete, onWait, interval });
  const after = deleted.length === 0 ? before : (await listVisibleObjects(cloud)).objects;
  const left = clusterObjects(after, options).filter(isToDelete);
  const marked = left.flatMap(({ marked = [] }) => marked);
  const others = left.flatMap((one) => (one.marked ? [] : [one.object]));
  if (left.length > 0)
    throw new Failure(
      "FAILED",
      `These objects were not deleted: ${named([...marked, ...others])}.`,
      deletionAdvice(marked, others),
    );
  const isRetained = ({ object }: ClusterObject): boolean => retained.has(object.id);
  const spared = found.filter((one) => !isToDelete(one));
  return {
    deleted,
    kept: [
      ...spared.filter((one) => !isRetained(one)).map((one) => one.marked ?? one.object),
      ...spared.filter(isRetained).map(({ object }): KeptObject => ({ ...object, retained: true })),
    ],
    ...(hidden.length > 0 && { hidden }),
  };
}

/** Facts of the step `sweepAfterDestroy`. */
export interface SweepFacts extends Facts {
  swept: SweepResult;
}

/** Deletes what the engine did not know, by the identities in the state before the destroy. */
export const sweepAfterDestroy: Step<SweepFacts> = {
  title: "Check that nothing is left in the project",
  expectedSeconds: 5,
  apply: async (facts) => {
    const { run, initial } = facts;
    facts.swept = await sweepLeftovers({
      cloud: await run.cloud(),
      ...stackHoldings(initial),
      signal: run.options.signal,
      onWait: (text) => {
        run.note(text);
      },
      onDelete: ({ kind, name, claim }) => {
        run.progress(`deleting the ${kind} '${name}' (${claim})`);
      },
    });
  },
};
