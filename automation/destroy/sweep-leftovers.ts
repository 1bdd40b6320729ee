import type { CloudClient } from "../../openstack/client/cloud-client.js";
import {
  listVisibleObjects,
  type CloudObject,
  type CloudObjectKind,
} from "../../openstack/inventory/inventory.js";
import { deleteOrphans, type OwnedObject } from "../../openstack/inventory/marked-objects.js";
import { hasData } from "../../openstack/inventory/ownership.js";
import { Failure } from "../../base/failures/failure.js";
import { findClusterObjects, type ClusterObject } from "../repair/object-attribution.js";
import type { KeptObject } from "../engine/operation-options.js";
import { renderOrphansDeleteCommand } from "../orphans/orphan-summary.js";
import type { OperationFacts, OperationStep } from "../steps/step.js";
import { findStackOwnership } from "../pulumi/stack-state.js";

export interface SweepOptions {
  readonly cloud: CloudClient;
  /**
   * Identities of the clusters in the state. Objects without one of these identities are never
   * deleted.
   */
  readonly identities: ReadonlySet<string>;
  /** IDs of all objects that the stack had created before the destroy. */
  readonly owned: ReadonlySet<string>;
  /** IDs of retained objects, even if they are no longer in the state. */
  readonly retained: ReadonlySet<string>;
  readonly signal?: AbortSignal;
  readonly onDelete?: (orphan: OwnedObject) => void;
  /** Receives a sentence about a deletion that takes long. */
  readonly onWait?: (text: string) => void;
  /** Milliseconds between two checks whether an object is gone. Default: 2 000. */
  readonly interval?: number;
}

export interface SweepResult {
  readonly deleted: readonly OwnedObject[];
  /**
   * Retained objects, and volumes, snapshots and floating IPs that the cluster's controllers did
   * not delete.
   */
  readonly kept: readonly KeptObject[];
  /**
   * Kinds of objects that the search did not include, because the cloud does not let this user list
   * such objects. Absent if there are no such kinds.
   */
  readonly hidden?: readonly CloudObjectKind[];
}

const named = (objects: readonly CloudObject[]): string =>
  objects.map(({ kind, name, id }) => `${kind} '${name === "" ? id : name}'`).join(", ");

/**
 * Returns advice for the remaining objects: a command that deletes the objects with an identity,
 * and the IDs of all other objects.
 */
function deletionAdvice(marked: readonly OwnedObject[], others: readonly CloudObject[]): string {
  const identities = new Set(marked.map(({ mark }) => mark.identity));
  const data = marked.some(hasData) ? " --volumes" : "";
  const commands = [...identities].map((one) => renderOrphansDeleteCommand(one) + data).join("; ");
  return [
    ...(marked.length > 0 ? [`Delete those with the cluster's identity by \`${commands}\`.`] : []),
    ...(others.length > 0
      ? [`Delete those without it by hand, by ID: ${others.map(({ id }) => id).join(", ")}.`]
      : []),
  ].join(" ");
}

/**
 * Deletes the remaining objects with the clusters' identities. Keeps objects that are retained or
 * cannot be recreated. Then lists the whole project again. Throws if the list still contains an
 * object to delete: an object with one of the identities, or an object that the stack owned before
 * the destroy.
 */
export async function sweepLeftovers(options: SweepOptions): Promise<SweepResult> {
  const { cloud, retained, signal, onDelete, onWait, interval } = options;
  const { objects: before, hidden } = await listVisibleObjects(cloud);
  const found = findClusterObjects(before, options);
  const isToDelete = ({ disposal }: ClusterObject): boolean => disposal === "delete";
  const deleted = found.filter(isToDelete).flatMap(({ marked = [] }) => marked);
  await deleteOrphans(cloud, deleted, { signal, onDelete, onWait, interval });
  const after = deleted.length === 0 ? before : (await listVisibleObjects(cloud)).objects;
  const left = findClusterObjects(after, options).filter(isToDelete);
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

export interface SweepFacts extends OperationFacts {
  swept: SweepResult;
}

/**
 * Deletes objects that the engine did not delete. Finds these objects by the identities in the
 * state before the destroy.
 */
export const sweepAfterDestroy: OperationStep<SweepFacts> = {
  title: "Check that nothing is left in the project",
  expectedSeconds: 5,
  apply: async (facts) => {
    const { run, initial } = facts;
    facts.swept = await sweepLeftovers({
      cloud: await run.cloud(),
      ...findStackOwnership(initial),
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
