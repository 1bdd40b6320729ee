import type { CloudObject } from "../../cloud/inventory.js";
import { ownershipOf } from "../../cloud/ownership.js";
import { ClusterError } from "./cluster-error.js";
import {
  beginningOf,
  longest,
  runsOf,
  slack,
  writtenAt,
  type History,
  type Runs,
} from "./earlier-runs.js";
import { boring } from "./events.js";
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

/**
 * When the state was written, in milliseconds since 1970: no earlier than what it holds was made or changed, which another machine with
 * another clock may have noted.
 */
function newestIn(state: StateExport): number | undefined {
  const written = writtenAt(state);
  const times = (state.deployment.resources ?? []).flatMap(({ created = "", modified = "" }) =>
    [created, modified].map((time) => Date.parse(time)).filter((time) => time > 0),
  );
  return written && Math.max(written, ...times);
}

/** Whether a run is of those that write what the state was to be after it. One that changed nothing may be of either side. */
const hasChanged = ({ kind, resourceChanges }: History[number]): boolean =>
  kind === "update" &&
  Object.entries(resourceChanges ?? { something: 1 }).some(
    ([what, count]) => !boring.has(what) && count > 0,
  );

/** What a cluster's controllers made since anything was recorded: before that may have been another cluster, of which something was kept. */
function madeByControllers(
  state: StateExport,
  { history }: Runs,
  objects: readonly CloudObject[],
): CloudObject | undefined {
  if (!wasBeforeControllers(state)) return undefined;
  const since = history.find(({ kind }) => kind !== "refresh")?.endTime ?? beginningOf(state);
  const held = heldBy(state);
  return objects.find(
    (one) =>
      isOfControllers(one, held) && Date.parse(one.created) > Date.parse(since ?? "1970-01-01"),
  );
}

/** What proves that the state is older than what there is, for people; undefined where nothing does. Pure. */
export function cameLater(
  state: StateExport,
  runs: Runs,
  objects: readonly CloudObject[],
): string | undefined {
  const newest = newestIn(state);
  if (newest === undefined) return undefined;
  const isLater = (time: number, more = 0): boolean => time > newest + slack + more;
  const at = (time: number): string => new Date(time).toISOString();
  const ours = runs.begun && (runs.begun.to ?? runs.begun.from);
  if (ours !== undefined && isLater(ours)) return `an \`up\` from here was at work at ${at(ours)}`;
  const ended = Date.parse(runs.history.find(hasChanged)?.endTime ?? "");
  if (isLater(ended)) return `an update came to its end at ${at(ended)}`;
  const held = heldBy(state);
  const found =
    objects.find(
      (one) =>
        isLost(one, held) && isLater(Date.parse(one.created), isPending(one, state) ? longest : 0),
    ) ?? madeByControllers(state, runs, objects);
  return (
    found &&
    `the ${found.kind} '${found.name}' (${found.id}) of its cluster came at ${found.created}`
  );
}

/** Refuses to go on from a state that says that a run was killed, and is an old one. */
export async function requireNewest(
  access: StateAccess,
  state: StateExport,
  objects: readonly CloudObject[],
): Promise<void> {
  const what = cameLater(state, await runsOf(access), objects);
  if (what === undefined) return;
  const written = new Date(writtenAt(state) ?? NaN).toISOString();
  throw new ClusterError(
    "PREFLIGHT_FAILED",
    `By its state, written last at ${written}, a run on this stack was killed, but ${what}. So the state may be an old one of a cluster that lives, and nothing is deleted for what it says.`,
    "Bring back the newer one, then run it again. If this is the newest after all, because the clocks of two machines differ, " +
      `\`pulumi refresh --clear-pending-creates\` (see \`npx stackadm env --stack ${access.workspace.stack}\`) has it forget what was in the making. ` +
      "`npx stackadm destroy` would take the cluster away, also one that lives.",
  );
}
