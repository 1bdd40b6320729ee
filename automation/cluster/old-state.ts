import type { CloudObject } from "../../cloud/inventory.js";
import { ownershipOf } from "../../cloud/ownership.js";
import { ClusterError } from "./cluster-error.js";
import { longest, runsOf, slack, writtenAt, type Runs } from "./earlier-runs.js";
import { isLost, type Known } from "./leftovers.js";
import { isTheOne, kindOfType } from "./recovery-steps.js";
import { heldBy, type StateAccess, type StateExport } from "./state.js";

/*
 * A state that says that a run was killed may be an old one: it was copied while that run was at work, which came to its end, and was brought
 * back since. What it does not hold is not left then but part of a cluster that lives. The proof is what only came after it.
 */

/** Whether the state says that it is in the making. */
const isPending = (object: CloudObject, { deployment }: StateExport): boolean =>
  (deployment.pending_operations ?? []).some(
    ({ resource }) => kindOfType[resource.type] === object.kind && isTheOne(object, resource),
  );

/** Whether the run was making what comes before any object in Kubernetes: no controller was at work there yet. */
function wasBeforeControllers({ deployment }: StateExport): boolean {
  const pending = deployment.pending_operations ?? [];
  const all = [...(deployment.resources ?? []), ...pending.map(({ resource }) => resource)];
  return (
    pending.some(({ type }) => type === "creating") &&
    !all.some(({ type }) => type.startsWith("kubernetes:"))
  );
}

/** Whether a cluster of the stack made it itself, through its controllers. */
const isOfControllers = (
  object: CloudObject,
  { identities }: Pick<Known, "identities">,
): boolean => {
  const ownership = ownershipOf(object);
  return (
    ownership !== undefined &&
    ownership.claim !== "marked by stackadm" &&
    identities.has(ownership.mark.identity)
  );
};

/** What proves that the state is older than what there is, for people; undefined where nothing does. Pure. */
export function cameLater(
  state: StateExport,
  { history, begun }: Runs,
  objects: readonly CloudObject[],
): string | undefined {
  const written = writtenAt(state);
  if (written === undefined) return undefined;
  const isLater = (time: number, more = 0): boolean => time > written + slack + more;
  if (begun !== undefined && isLater(begun)) return "an `up` began after it was written";
  const good = history.find(({ kind, result }) => kind === "update" && result === "succeeded");
  if (good && isLater(Date.parse(good.startTime)))
    return "an update that began after it was written ended well";
  const held = heldBy(state);
  const found =
    objects.find(
      (one) =>
        isLost(one, held) && isLater(Date.parse(one.created), isPending(one, state) ? longest : 0),
    ) ??
    (wasBeforeControllers(state) ? objects.find((one) => isOfControllers(one, held)) : undefined);
  return found && `the ${found.kind} '${found.name}' (${found.id}) of its cluster came after it`;
}

/** Refuses to go on from a state that says that a run was killed, and is an old one. */
export async function requireNewest(
  access: StateAccess,
  state: StateExport,
  objects: readonly CloudObject[],
): Promise<void> {
  const what = cameLater(state, await runsOf(access), objects);
  if (what === undefined) return;
  throw new ClusterError(
    "PREFLIGHT_FAILED",
    `By its state a run on this stack was killed, but ${what}: the state may be an old one, so nothing is deleted for what it says.`,
    "Bring back the newer one, then run it again. If there is none, `npx stackadm destroy` takes away what the state holds and what has the identities in it.",
  );
}
