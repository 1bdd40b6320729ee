import type { CloudClient } from "../../openstack/client/cloud-client.js";
import {
  listVisibleObjects,
  type CloudObject,
  type CloudObjectKind,
  type ProxyPatience,
} from "../../openstack/inventory/inventory.js";
import { deleteOrphans, type OwnedObject } from "../../openstack/inventory/marked-objects.js";
import { markAsKept } from "../../openstack/inventory/mark-as-kept.js";
import { CloudError } from "../../openstack/http/cloud-error.js";
import { Failure } from "../../base/failures/failure.js";
import { findClusterObjects, type ClusterObject } from "../repair/object-attribution.js";
import type { KeptObject } from "../engine/operation-options.js";
import type { HeldLock } from "../engine/held-lock.js";
import { requireOnlyIdentities } from "./delete-resources.js";
import type { OperationFacts, OperationStep } from "../steps/step.js";
import { findStackOwnership } from "../pulumi/stack-state.js";

export interface SweepOptions {
  /** Client that only reads. */
  readonly cloud: CloudClient;
  /**
   * Runs `work` while the stack's lock is held. Throws if another operation has created a cluster
   * in the stack. Not called if there is nothing to change.
   */
  readonly underLock: (work: (lock: HeldLock) => Promise<void>) => Promise<void>;
  /**
   * Identities of the clusters in the state. Objects without one of these identities are never
   * deleted.
   */
  readonly identities: ReadonlySet<string>;
  /** IDs of all objects that the stack had created before the destroy. */
  readonly owned: ReadonlySet<string>;
  /** IDs of retained objects, even if they are no longer in the state. */
  readonly retained: ReadonlySet<string>;
  readonly onDelete?: (orphan: OwnedObject) => void;
  /** Receives a sentence about a deletion that takes long. */
  readonly onWait?: (text: string) => void;
  /** Called if a retained object could not be marked as kept. */
  readonly onUnmarked?: (object: CloudObject, error: CloudError) => void;
  /** Milliseconds between two checks whether an object is gone. Default: 2 000. */
  readonly interval?: number;
  /**
   * Repetition of lists for which a proxy answers in place of the service. Default:
   * `proxyPatience`.
   */
  readonly patience?: ProxyPatience;
}

/**
 * After the sweep, the state no longer has the identity with which left objects are found. A proxy
 * that reloads must not hide them.
 */
export const proxyPatience: ProxyPatience = { tries: 4, interval: 5_000 };

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
 * Returns advice for the remaining objects. The state still has the cluster's identity, so the next
 * destroy finds the objects with this identity. The user must delete all other objects.
 */
const getDeletionAdvice = (others: readonly CloudObject[]): string =>
  [
    ...(others.length > 0
      ? [
          `Delete those without the cluster's identity by hand, by ID: ${others.map(({ id }) => id).join(", ")}.`,
        ]
      : []),
    "Run the same command again: it continues here.",
  ].join(" ");

/**
 * Marks the retained objects that a later destroy must keep, and deletes the left objects. Marks
 * first, because a deletion may fail, and `orphans --delete` deletes objects without the mark.
 */
async function changeObjects(
  { underLock, onDelete, onWait, interval, onUnmarked }: SweepOptions,
  deleted: readonly OwnedObject[],
  unmarked: readonly CloudObject[],
): Promise<void> {
  if (deleted.length + unmarked.length === 0) return;
  await underLock(async (lock) => {
    const [cloud, { signal }] = [await lock.cloud(), lock];
    for (const object of unmarked)
      await markAsKept(cloud, object).catch((error: unknown) => {
        if (!(error instanceof CloudError)) throw error;
        onUnmarked?.(object, error);
      });
    await deleteOrphans(cloud, deleted, { signal, onDelete, onWait, interval });
  });
}

/** Returns the retained objects with the cluster's identity that no destroy has marked yet. */
const findUnmarked = (
  found: readonly ClusterObject[],
  retained: ReadonlySet<string>,
): readonly CloudObject[] =>
  found.flatMap(({ object, marked }) =>
    retained.has(object.id) && marked && marked.kept !== true ? [object] : [],
  );

/**
 * Deletes the remaining objects with the clusters' identities. Keeps objects that are retained or
 * cannot be recreated. Then lists the whole project again. Throws if the list still contains an
 * object to delete: an object with one of the identities, or an object that the stack owned before
 * the destroy.
 */
export async function sweepLeftovers(options: SweepOptions): Promise<SweepResult> {
  const { cloud, retained, patience = proxyPatience } = options;
  const { objects: before, hidden } = await listVisibleObjects(cloud, undefined, patience);
  const found = findClusterObjects(before, options);
  const isToDelete = ({ disposal }: ClusterObject): boolean => disposal === "delete";
  const deleted = found.filter(isToDelete).flatMap(({ marked = [] }) => marked);
  await changeObjects(options, deleted, findUnmarked(found, retained));
  // Objects of a kind that was listed before must not count as deleted without a list.
  const wasListed = (kind: CloudObjectKind): boolean => !hidden.includes(kind);
  const after =
    deleted.length === 0 ? before : (await listVisibleObjects(cloud, wasListed, patience)).objects;
  const left = findClusterObjects(after, options).filter(isToDelete);
  const marked = left.flatMap(({ marked = [] }) => marked);
  const others = left.flatMap((one) => (one.marked ? [] : [one.object]));
  if (left.length > 0)
    throw new Failure(
      "FAILED",
      `These objects were not deleted: ${named([...marked, ...others])}.`,
      getDeletionAdvice(others),
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
 * Deletes objects that the engine did not delete. Finds these objects by the identities, which the
 * state keeps until this step has finished. Another operation with the same identity may have begun
 * after the engine's destroy, so objects are deleted only under the stack's lock.
 */
export const sweepAfterDestroy: OperationStep<SweepFacts> = {
  title: "Check that nothing is left in the project",
  expectedSeconds: 5,
  apply: async (facts) => {
    const { run, initial } = facts;
    facts.swept = await sweepLeftovers({
      cloud: await run.cloud(),
      ...findStackOwnership(initial),
      patience: { ...proxyPatience, signal: run.options.signal },
      underLock: (work) =>
        run.hold(async (lock) => {
          await requireOnlyIdentities(run);
          await work(lock);
        }),
      onUnmarked: ({ kind, name, id }, { sentence }) => {
        run.warn(
          `The kept ${kind} '${name}' (${id}) could not be marked (${sentence}), so \`stackadm orphans --delete\` would delete it.`,
        );
      },
      onWait: (text) => {
        run.note(text);
      },
      onDelete: ({ kind, name, claim }) => {
        run.progress(`deleting the ${kind} '${name}' (${claim})`);
      },
    });
  },
};
