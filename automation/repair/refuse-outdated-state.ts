import type { CloudObject } from "../../openstack/inventory/inventory.js";
import { getOwnership } from "../../openstack/inventory/ownership.js";
import { Failure } from "../../base/failures/failure.js";
import {
  getStackCreationTime,
  longestCreateDelay,
  readStackRuns,
  clockTolerance,
  getStateWriteTime,
  type StackHistory,
  type StackRuns,
} from "../pulumi/run-history.js";
import { unchangedOperations } from "../pulumi/events.js";
import { isUnrecorded, type AttributionEvidence } from "./object-attribution.js";
import { mayBeCreatedBy, inventoryKindOfType } from "../pulumi/pending-operations.js";
import { findStackOwnership, type StateAccess, type StateExport } from "../pulumi/stack-state.js";

/*
 * Checks whether a state with pending operations is outdated. An outdated state is a copy from the
 * middle of a run, and was restored after this run had finished. Objects that are missing in the
 * copy then belong to a running cluster. An object or a run that is newer than the state proves
 * that the state is outdated.
 */

/** Returns whether a pending operation in the state may have created the object. */
const isPending = (object: CloudObject, { deployment }: StateExport): boolean =>
  (deployment.pending_operations ?? []).some(
    ({ resource }) =>
      inventoryKindOfType[resource.type] === object.kind && mayBeCreatedBy(object, resource),
  );

/**
 * Returns whether the killed run had not created any object in Kubernetes. In this case, no
 * controller of the cluster could be active.
 */
function wasBeforeControllers({ deployment }: StateExport): boolean {
  const pending = deployment.pending_operations ?? [];
  const all = [...(deployment.resources ?? []), ...pending.map(({ resource }) => resource)];
  return (
    pending.some(({ type }) => type === "creating") &&
    !all.some(({ type }) => type.startsWith("kubernetes:"))
  );
}

/** Returns whether a controller of one of the stack's clusters created the object. */
const isOfControllers = (
  object: CloudObject,
  { identities }: Pick<AttributionEvidence, "identities">,
): boolean => {
  const ownership = getOwnership(object);
  return (
    ownership !== undefined &&
    ownership.claim !== "marked by stackadm" &&
    identities.has(ownership.mark.identity)
  );
};

/**
 * Returns the newest time in the state, in milliseconds since 1970: the write time of the state, or
 * a later time of a resource. A resource may have a later time if another computer with another
 * clock created it.
 */
function newestIn(state: StateExport): number | undefined {
  const written = getStateWriteTime(state);
  const times = (state.deployment.resources ?? []).flatMap(({ created = "", modified = "" }) =>
    [created, modified].map((time) => Date.parse(time)).filter((time) => time > 0),
  );
  return written && Math.max(written, ...times);
}

/**
 * Returns whether a run changed resources. A run without changes does not prove that the state is
 * outdated.
 */
const hasChanged = ({ kind, resourceChanges }: StackHistory[number]): boolean =>
  kind === "update" &&
  Object.entries(resourceChanges ?? { something: 1 }).some(
    ([what, count]) => !unchangedOperations.has(what) && count > 0,
  );

/**
 * Returns an object that a controller created after the last run in the history. Returns an object
 * only if the killed run had not started any controller, according to the state. Ignores older
 * objects, which may come from an earlier cluster.
 */
function madeByControllers(
  state: StateExport,
  { history }: StackRuns,
  objects: readonly CloudObject[],
): CloudObject | undefined {
  if (!wasBeforeControllers(state)) return undefined;
  const since =
    history.find(({ kind }) => kind !== "refresh")?.endTime ?? getStackCreationTime(state);
  const ownership = findStackOwnership(state);
  return objects.find(
    (one) =>
      isOfControllers(one, ownership) &&
      Date.parse(one.created) > Date.parse(since ?? "1970-01-01"),
  );
}

/**
 * Returns the proof that the state is outdated, as a clause for an error message. Returns undefined
 * if there is no proof. Pure.
 */
export function findNewerStateEvidence(
  state: StateExport,
  runs: StackRuns,
  objects: readonly CloudObject[],
): string | undefined {
  const newest = newestIn(state);
  if (newest === undefined) return undefined;
  const isLater = (time: number, more = 0): boolean => time > newest + clockTolerance + more;
  const formatTime = (time: number): string => new Date(time).toISOString();
  const ours = runs.begun && (runs.begun.to ?? runs.begun.from);
  if (ours !== undefined && isLater(ours))
    return `an \`up\` on this machine ran at ${formatTime(ours)}`;
  const ended = Date.parse(runs.history.find(hasChanged)?.endTime ?? "");
  if (isLater(ended)) return `an update ended at ${formatTime(ended)}`;
  const ownership = findStackOwnership(state);
  const found =
    objects.find(
      (one) =>
        isUnrecorded(one, ownership) &&
        isLater(Date.parse(one.created), isPending(one, state) ? longestCreateDelay : 0),
    ) ?? madeByControllers(state, runs, objects);
  return (
    found &&
    `the ${found.kind} '${found.name}' (${found.id}) of its cluster was created at ${found.created}`
  );
}

/** Throws if the state is outdated. Called only for a state with pending operations. */
export async function requireCurrentState(
  access: StateAccess,
  state: StateExport,
  objects: readonly CloudObject[],
): Promise<void> {
  const what = findNewerStateEvidence(state, await readStackRuns(access), objects);
  if (what === undefined) return;
  const written = new Date(getStateWriteTime(state) ?? NaN).toISOString();
  throw new Failure(
    "PREFLIGHT_FAILED",
    `The state, last written at ${written}, records an interrupted run, but ${what}. So it may be an outdated copy of a running cluster's state. Nothing was deleted.`,
    "Restore the newer state, then run the same command again. If this state is the newest one, because the clocks of two machines differ, " +
      `\`pulumi refresh --clear-pending-creates\` (see \`stackadm env --stack ${access.workspace.stack}\`) removes the interrupted creations from it. ` +
      "`stackadm destroy` would destroy the cluster, even if it runs.",
  );
}
