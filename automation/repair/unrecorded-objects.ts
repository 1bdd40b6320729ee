import { CloudError } from "../../openstack/http/cloud-error.js";
import {
  listObjects,
  takeInventory,
  listVisibleObjects,
  type CloudObject,
  type CloudObjectKind,
} from "../../openstack/inventory/inventory.js";
import { deleteOrphans } from "../../openstack/inventory/marked-objects.js";
import {
  describeObjects,
  findBlockingForeignPorts,
  findForeignPorts,
} from "../../openstack/inventory/foreign-ports.js";
import { Failure } from "../../base/failures/failure.js";
import { readUnrecordedRunPeriods, type UnrecordedPeriodOptions } from "../pulumi/run-history.js";
import { isUnrecorded, attributeUnrecordedObject, type Attribution } from "./object-attribution.js";
import {
  findForeignBalancers,
  isServiceBalancer,
  findBalancersOfDeletedServices,
} from "./service-load-balancers.js";
import {
  findFailedRunPeriods,
  findPortsWithoutScripts,
  attributeUnrecordedServer,
} from "./left-behind-servers.js";
import { requireCurrentState } from "./refuse-outdated-state.js";
import type { StackOperation } from "../engine/operation-context.js";
import { editUnderLock } from "../steps/edit-state.js";
import type { PlannedChanges, OperationFacts, OperationStep } from "../steps/step.js";
import { findStackOwnership, type StateExport } from "../pulumi/stack-state.js";

/*
 * Finds and deletes objects of the cluster that the state does not contain. The engine does not
 * record a failed create, but the cloud may have created the object, for example if the connection
 * broke or the run was killed. The program recognizes such an object by the cluster's identity,
 * which the create request contains.
 */

/**
 * Returns the objects that a failed run created but did not record in the state. Reads the engine's
 * history only if at least one object has an identity from the state and is missing in the state.
 */
export async function findUnrecordedObjects(
  run: StackOperation,
  state: StateExport | undefined,
  objects: readonly CloudObject[],
  doubts?: UnrecordedPeriodOptions,
): Promise<CloudObject[]> {
  const ownership = findStackOwnership(state);
  const lost = objects.filter((one) => isUnrecorded(one, ownership));
  if (!state || lost.length === 0) return [];
  const known = {
    ...ownership,
    unsettled: await readUnrecordedRunPeriods(run.access, state, doubts),
  };
  const unreached = findPortsWithoutScripts(state);
  const ended = findFailedRunPeriods(state, known.unsettled);
  const verdict = (one: CloudObject): Attribution =>
    one.kind === "server"
      ? attributeUnrecordedServer(one, { ended, objects, unreached })
      : attributeUnrecordedObject(one, known);
  return lost.filter((one) => verdict(one).is === "left behind");
}

/**
 * Throws if ports of other owners block the deletion of these objects. Without this check, the
 * deletion would fail later, with a less clear error, in every run.
 */
function requireNoBlockingPorts(
  lost: readonly CloudObject[],
  objects: readonly CloudObject[],
  owned: ReadonlySet<string>,
): void {
  const strange = findBlockingForeignPorts(lost, objects, owned);
  if (strange.length === 0) return;
  const places = lost.filter(({ kind }) => kind === "network" || kind === "subnet");
  throw new Failure(
    "FAILED",
    `Cannot delete ${describeObjects(places)}, which an earlier run left without a record: its network still contains ${describeObjects(strange)}, which this cluster does not own. Nothing was deleted.`,
    "Delete that object or the one that uses it, then run the same command again.",
  );
}

/** Returns a cloud error with a sentence that names the purpose of the failed request. */
const withPurpose = (error: unknown): unknown =>
  error instanceof CloudError
    ? new Failure(
        error.code,
        `Cannot delete what an earlier run left without a record: ${error.sentence}`,
        error.kind === "conflict"
          ? "Another object in the cloud still uses it: delete that object, then run the same command again."
          : error.hint,
      )
    : error;

/**
 * Deletes the objects that `choose` returns, while the stack's lock is held. Without the lock,
 * another run might be creating these objects.
 *
 * @param listPresent returns the objects in the cloud
 */
async function deleteUnderLock(
  run: StackOperation,
  listPresent: () => Promise<readonly CloudObject[]>,
  choose: (
    state: StateExport | undefined,
    objects: readonly CloudObject[],
  ) => Promise<readonly CloudObject[]> | readonly CloudObject[],
): Promise<void> {
  await editUnderLock(run, async (state, lock) => {
    const objects = await listPresent();
    const lost = await choose(state, objects);
    requireNoBlockingPorts(lost, objects, findStackOwnership(state).owned);
    const onDelete = (one: CloudObject): void => {
      const { kind, name, id } = one;
      const why = isServiceBalancer(one)
        ? "its Service no longer exists"
        : "an earlier run left it without a record";
      run.note(`Deleting the ${kind} '${name}' (${id}): it belongs to this cluster, and ${why}.`);
    };
    const onWait = (text: string): void => {
      run.note(text);
    };
    const options = { signal: lock.signal, onDelete, onWait };
    await deleteOrphans(await lock.cloud(), lost, options).catch((error: unknown) => {
      throw withPurpose(error);
    });
    return state;
  });
}

/** Facts about objects that the state does not contain. */
export interface UnrecordedObjectsFacts extends OperationFacts {
  /** Objects of the project. Absent: the cloud was not asked. */
  surveyed?: readonly CloudObject[] | undefined;
  /**
   * IDs of objects that an earlier run created without a record in the state. The current run
   * deletes these objects.
   */
  unrecorded: ReadonlySet<string>;
}

/** Deletes objects that failed runs created without recording them in the state. */
export const deleteUnrecordedObjects: OperationStep<
  UnrecordedObjectsFacts,
  PlannedChanges,
  readonly CloudObject[]
> = {
  title: "Delete what an earlier run left without a record",
  detect: async ({ run, state, surveyed = [], interrupted }) => {
    const lost = await findUnrecordedObjects(run, state, surveyed, { interrupted });
    return lost.length > 0 ? lost : undefined;
  },
  describe: (_, lost) => ({
    first: `delete what an earlier run left without a record: ${describeObjects(lost)}`,
  }),
  apply: async (facts, lost) => {
    const { run, interrupted } = facts;
    // `takeInventory` throws if objects are hidden from this user, because a hidden object may
    // prove that the state is outdated.
    if (interrupted)
      await requireCurrentState(run.access, interrupted, await takeInventory(await run.cloud()));
    await deleteUnderLock(
      run,
      async () => (await listVisibleObjects(await run.cloud())).objects,
      (now, all) => findUnrecordedObjects(run, now, all, { interrupted }),
    );
    facts.unrecorded = new Set(lost.map(({ id }) => id));
  },
};

/** Kinds of objects that block the deletion of a network or of its router. */
const blockingKinds: readonly CloudObjectKind[] = [
  "load balancer",
  "floating IP",
  "router",
  "port",
];

/**
 * Lists the project's objects of the kinds that can block the deletion of a network. Skips kinds
 * that the user cannot list.
 */
async function listNetworkBlockers(run: StackOperation): Promise<CloudObject[]> {
  const cloud = await run.cloud();
  const found = await Promise.allSettled(blockingKinds.map((kind) => listObjects(cloud, kind)));
  return found.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
}

/**
 * Returns unrecorded objects of the stack's clusters, and load balancers whose Services no longer
 * exist.
 */
async function findUnrecordedIn(
  run: StackOperation,
  state: StateExport | undefined,
  objects: readonly CloudObject[],
): Promise<CloudObject[]> {
  const ownership = findStackOwnership(state);
  const lost = objects.filter((one) => isUnrecorded(one, ownership));
  return [...lost, ...(await findBalancersOfDeletedServices(run, objects, ownership.identities))];
}

interface Blocking {
  /** All objects of the project with one of the `blockingKinds`. */
  readonly objects: readonly CloudObject[];
  /** Objects to delete: unrecorded objects, and load balancers of deleted Services. */
  readonly lost: readonly CloudObject[];
}

/** Returns the objects of other owners that block the deletion of the cluster's networks. */
function findForeignBlockers(
  state: StateExport | undefined,
  { objects, lost }: Blocking,
): readonly CloudObject[] {
  const { owned, identities } = findStackOwnership(state);
  const going = new Set([...owned, ...lost.map(({ id }) => id)]);
  return [
    ...findForeignPorts(owned, objects, going),
    ...findForeignBalancers(objects, { networks: owned, ours: going, identities }),
  ];
}

/**
 * Deletes objects of the cluster that the state does not contain and that block the deletion of
 * the cluster's networks. Reports blocking objects of other owners and keeps them.
 */
export const unblockNetworks: OperationStep<OperationFacts, never, Blocking> = {
  title: "Delete objects that block the cluster's networks",
  detect: async ({ run, state }) => {
    const objects = await listNetworkBlockers(run);
    const blocking = { objects, lost: await findUnrecordedIn(run, state, objects) };
    const none = blocking.lost.length + findForeignBlockers(state, blocking).length === 0;
    return none ? undefined : blocking;
  },
  apply: async ({ run, state }, blocking) => {
    if (blocking.lost.length > 0)
      await deleteUnderLock(
        run,
        () => listNetworkBlockers(run),
        (now, objects) => findUnrecordedIn(run, now, objects),
      );
    for (const { kind, name, id } of findForeignBlockers(state, blocking))
      run.warn(
        `The ${kind} '${name}' (${id}) in the cluster's network does not belong to the cluster and blocks the deletion of the network: delete it or the object that uses it.`,
      );
  },
};
