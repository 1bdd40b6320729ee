import { listObjects, takeInventory, type CloudObject, type Kind } from "../../cloud/inventory.js";
import { deleteOrphans } from "../../cloud/orphans.js";
import { unsettledOf, type Doubts } from "./earlier-runs.js";
import { isLost, verdictOnLost } from "./leftovers.js";
import type { Run } from "./run.js";
import { heldBy, readState, type StateExport } from "./state.js";

/*
 * A create that failed leaves no record, and what the cloud made all the same may not have been undone: the line was down, the run was
 * ended by force, or it was no run of ours. It has the cluster's identity from its first moment on, and by that it is found.
 */

/** Which of these are so, and were made by a run that failed. The engine is asked only where there are any. */
export async function lostAmong(
  run: Run,
  state: StateExport | undefined,
  objects: readonly CloudObject[],
  doubts?: Doubts,
): Promise<CloudObject[]> {
  const held = heldBy(state);
  const lost = objects.filter((one) => isLost(one, held));
  if (!state || lost.length === 0) return [];
  const known = { ...held, unsettled: await unsettledOf(run.access, state, doubts) };
  return lost.filter((one) => verdictOnLost(one, known).is === "left behind");
}

/** Deletes what is found while nobody else works on the stack: until then it may be what somebody else is making. */
async function undo(
  run: Run,
  find: (state: StateExport | undefined) => Promise<readonly CloudObject[]>,
): Promise<void> {
  await run.hold(async (signal) => {
    const lost = await find(await readState(run.access));
    await deleteOrphans(await run.cloud(), lost, {
      signal,
      onDelete: ({ kind, name, id }) => {
        run.note(
          `Deleting the ${kind} '${name}' (${id}): it is this cluster's, and an earlier run left it without a record.`,
        );
      },
    });
  });
}

/** Before an `up`: deletes what runs that failed left without a record. Answers the IDs of what was seen of it. */
export async function undoLost(
  run: Run,
  state: StateExport | undefined,
  objects: readonly CloudObject[],
  doubts: Doubts,
): Promise<ReadonlySet<string>> {
  const lost = await lostAmong(run, state, objects, doubts);
  if (lost.length > 0) {
    run.stage("repair");
    await undo(run, async (now) =>
      lostAmong(run, now, await takeInventory(await run.cloud()), doubts),
    );
  }
  return new Set(lost.map(({ id }) => id));
}

/** What keeps a network, or the way out of it, from being deleted. */
const inTheWay: readonly Kind[] = ["load balancer", "floating IP", "router", "port"];

/**
 * A port that somebody put into a network of the stack: neither Neutron's own nor a load balancer's, which go by themselves, nor one of
 * a router of the stack.
 */
const isStrange = (
  { kind, id, name, owner, device, network }: CloudObject,
  owned: ReadonlySet<string>,
): boolean =>
  kind === "port" &&
  owned.has(network) &&
  !owned.has(id) &&
  !owned.has(device) &&
  (owner === "" || owner.startsWith("compute:") || owner.startsWith("network:router_")) &&
  !name.startsWith("ovn-lb-");

/**
 * Before a destroy: what would keep a network from going and is the cluster's, though its state does not hold it, goes first: the rest
 * of that goes afterwards. What is somebody else's stays, and is named. What cannot be listed is left to the destroy.
 */
export async function clearTheWay(run: Run, state: StateExport | undefined): Promise<void> {
  const list = async (): Promise<CloudObject[]> => {
    const cloud = await run.cloud();
    const found = await Promise.allSettled(inTheWay.map((kind) => listObjects(cloud, kind)));
    return found.flatMap((one) => (one.status === "fulfilled" ? one.value : []));
  };
  const held = heldBy(state);
  const found = await list();
  if (found.some((one) => isLost(one, held)))
    await undo(run, async (now) => (await list()).filter((one) => isLost(one, heldBy(now))));
  for (const one of found)
    if (isStrange(one, held.owned) && !isLost(one, held))
      run.note(
        `! The port '${one.name}' (${one.id}) in the cluster's network is not the cluster's, and the network cannot go before it: delete it, or what has it.`,
      );
}
