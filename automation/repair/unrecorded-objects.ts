import { CloudError } from "../../openstack/http/cloud-error.js";
import {
  listObjects,
  takeInventory,
  listVisibleObjects,
  type CloudObject,
  type Kind,
} from "../../openstack/inventory/inventory.js";
import { deleteOrphans } from "../../openstack/inventory/marked-objects.js";
import {
  describeObjects,
  foreignPortsBlocking,
  foreignPortsIn,
} from "../../openstack/inventory/foreign-ports.js";
import { ClusterError } from "../pulumi/cluster-error.js";
import { readUnrecordedRunPeriods, type UnsettledOptions } from "../pulumi/run-history.js";
import { isUnrecorded, attributeUnrecorded, type Attribution } from "./object-attribution.js";
import { unexpectedRepair } from "./expect-no-changes.js";
import {
  foreignBalancers,
  isOfService,
  balancersOfDeletedServices,
} from "./unrecorded-load-balancers.js";
import {
  failedRunPeriodsBefore,
  portsWithoutScripts,
  attributeUnrecordedServer,
} from "./unrecorded-servers.js";
import { requireCurrentState } from "./outdated-state.js";
import type { StackOperation } from "../engine/operation-context.js";
import { stackHoldings, readState, type StateExport } from "../pulumi/stack-state.js";

/*
 * Finds objects of the cluster that the state does not contain. The engine does not record a create
 * that failed. Yet the cloud may have created the object, for example if the connection broke or
 * the run was killed. Such an object has the cluster's identity from its creation on.
 */

/**
 * Returns the objects that a failed run created but did not record in the state. Reads the engine's
 * history only if such objects are possible.
 */
export async function unrecordedAmong(
  run: StackOperation,
  state: StateExport | undefined,
  objects: readonly CloudObject[],
  doubts?: UnsettledOptions,
): Promise<CloudObject[]> {
  const held = stackHoldings(state);
  const lost = objects.filter((one) => isUnrecorded(one, held));
  if (!state || lost.length === 0) return [];
  const known = { ...held, unsettled: await readUnrecordedRunPeriods(run.access, state, doubts) };
  const unreached = portsWithoutScripts(state);
  const ended = failedRunPeriodsBefore(state, known.unsettled);
  const verdict = (one: CloudObject): Attribution =>
    one.kind === "server"
      ? attributeUnrecordedServer(one, { ended, objects, unreached })
      : attributeUnrecorded(one, known);
  return lost.filter((one) => verdict(one).is === "left behind");
}

/**
 * Throws if ports of other owners block a deletion. Otherwise each run would fail at this deletion.
 */
function requireWay(
  lost: readonly CloudObject[],
  objects: readonly CloudObject[],
  owned: ReadonlySet<string>,
): void {
  const strange = foreignPortsBlocking(lost, objects, owned);
  if (strange.length === 0) return;
  const places = lost.filter(({ kind }) => kind === "network" || kind === "subnet");
  throw new ClusterError(
    "FAILED",
    `Cannot delete ${describeObjects(places)}, which an earlier run left without a record: its network still contains ${describeObjects(strange)}, which this cluster does not own. Nothing was deleted.`,
    "Delete that object or the one that uses it, then run the same command again.",
  );
}

/** Returns a cloud error with a sentence that names the purpose of the failed request. */
const withPurpose = (error: unknown): unknown =>
  error instanceof CloudError
    ? new ClusterError(
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
 * @param look returns the objects in the cloud
 */
async function deleteUnderLock(
  run: StackOperation,
  look: () => Promise<readonly CloudObject[]>,
  choose: (
    state: StateExport | undefined,
    objects: readonly CloudObject[],
  ) => Promise<readonly CloudObject[]> | readonly CloudObject[],
): Promise<void> {
  await run.hold(async (signal) => {
    const [state, objects] = await Promise.all([readState(run.access), look()]);
    const lost = await choose(state, objects);
    requireWay(lost, objects, stackHoldings(state).owned);
    const onDelete = (one: CloudObject): void => {
      const { kind, name, id } = one;
      const why = isOfService(one)
        ? "its Service no longer exists"
        : "an earlier run left it without a record";
      run.note(`Deleting the ${kind} '${name}' (${id}): it belongs to this cluster, and ${why}.`);
    };
    const onWait = (text: string): void => {
      run.note(text);
    };
    const options = { signal, onDelete, onWait };
    await deleteOrphans(await run.cloud(), lost, options).catch((error: unknown) => {
      throw withPurpose(error);
    });
  });
}

/**
 * Deletes objects that failed runs created but did not record in the state. Runs before an `up`.
 * With `expectNoChanges`, throws if there are such objects. Returns the IDs of the objects.
 */
export async function deleteUnrecordedObjects(
  run: StackOperation,
  state: StateExport | undefined,
  objects: readonly CloudObject[],
  { expectNoChanges, ...doubts }: UnsettledOptions & { readonly expectNoChanges: boolean },
): Promise<ReadonlySet<string>> {
  const lost = await unrecordedAmong(run, state, objects, doubts);
  if (lost.length > 0 && expectNoChanges)
    throw unexpectedRepair(
      `delete what an earlier run left without a record: ${describeObjects(lost)}`,
    );
  if (lost.length > 0) {
    // `takeInventory` throws if the user may not list a kind of object: an object of this kind
    // could prove that the state is outdated.
    if (doubts.interrupted)
      await requireCurrentState(
        run.access,
        doubts.interrupted,
        await takeInventory(await run.cloud()),
      );
    run.stage("repair");
    await deleteUnderLock(
      run,
      async () => (await listVisibleObjects(await run.cloud())).objects,
      (now, all) => unrecordedAmong(run, now, all, doubts),
    );
  }
  return new Set(lost.map(({ id }) => id));
}

/** Kinds of objects that block the deletion of a network or of its router. */
const inTheWay: readonly Kind[] = ["load balancer", "floating IP", "router", "port"];

/**
 * Deletes objects of the cluster that the state does not contain, and that block the deletion of
 * the cluster's networks. Runs before a destroy. Objects of other owners that block the deletion
 * are kept and reported. Skips kinds that the user cannot list.
 */
export async function unblockNetworks(
  run: StackOperation,
  state: StateExport | undefined,
): Promise<void> {
  const look = async (): Promise<CloudObject[]> => {
    const cloud = await run.cloud();
    const found = await Promise.allSettled(inTheWay.map((kind) => listObjects(cloud, kind)));
    return found.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  };
  const lostIn = async (
    now: StateExport | undefined,
    objects: readonly CloudObject[],
  ): Promise<CloudObject[]> => {
    const held = stackHoldings(now);
    const lost = objects.filter((one) => isUnrecorded(one, held));
    return [...lost, ...(await balancersOfDeletedServices(run, objects, held.identities))];
  };
  const objects = await look();
  const lost = await lostIn(state, objects);
  if (lost.length > 0) await deleteUnderLock(run, look, lostIn);
  const { owned, identities } = stackHoldings(state);
  const going = new Set([...owned, ...lost.map(({ id }) => id)]);
  const strange = [
    ...foreignPortsIn(owned, objects, going),
    ...foreignBalancers(objects, { networks: owned, ours: going, identities }),
  ];
  for (const { kind, name, id } of strange)
    run.note(
      `! The ${kind} '${name}' (${id}) in the cluster's network does not belong to the cluster and blocks the deletion of the network: delete it or the object that uses it.`,
    );
}
