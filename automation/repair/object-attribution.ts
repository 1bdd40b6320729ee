import type { CloudObject } from "../../openstack/inventory/inventory.js";
import {
  isKeptUnlessRequested,
  filterOwnedObjects,
  type OwnedObject,
} from "../../openstack/inventory/marked-objects.js";
import { hasData, getOwnership } from "../../openstack/inventory/ownership.js";
import { isWithinPeriods, type RunPeriod } from "../pulumi/run-history.js";

/*
 * Determines the owner of an object that a run of this stack may have created but not recorded in
 * the state. left-behind-servers.ts determines the owner of servers without a pending
 * operation (docs/decisions/0049-object-attribution.md). Pure.
 */

/** Facts about the stack, from which the owner of an object is derived. */
export interface AttributionEvidence {
  /** IDs of all resources in the state. */
  readonly owned: ReadonlySet<string>;
  /** Identities of the clusters in the state. */
  readonly identities: ReadonlySet<string>;
  /** IDs of objects with `retainOnDelete`, including objects that are no longer in the state. */
  readonly retained: ReadonlySet<string>;
  /** Periods of runs whose results may be missing in the state. */
  readonly unsettled: readonly RunPeriod[];
}

/**
 * Decision about an object. `held`: the object is in the state, or retained. `left behind`: a run
 * created the object, but did not record it in the state. `another's`: the object has the identity
 * of another cluster. `unproven`: the owner of the object is unknown. Only objects that are
 * `left behind` are deleted.
 */
export type Attribution =
  | { readonly is: "held" | "left behind" | "another's" }
  | { readonly is: "unproven"; readonly because: string };

/**
 * Parents and creation time of an object without a cluster's identity. `parents` is absent if
 * objects of this kind have no parents that show the owner.
 */
export interface UnmarkedObject {
  readonly parents: readonly string[];
  readonly created: string;
}

export const createUnprovenAttribution = (because: string): Attribution => ({
  is: "unproven",
  because,
});

/**
 * Determines the owner of an object by its creation time. Returns `left behind` if the object was
 * created in one of the periods, otherwise `unproven`.
 *
 * @param clocks difference in milliseconds that the clocks of this machine and of the cloud may
 * have. Default: one minute
 */
export function attributeByTime(
  created: string,
  unsettled: readonly RunPeriod[],
  clocks?: number,
): Attribution {
  if (created === "")
    return createUnprovenAttribution("the cloud does not report when it was created");
  return isWithinPeriods(created, unsettled, clocks)
    ? { is: "left behind" }
    : createUnprovenAttribution("it was perhaps not created during such a run");
}

/**
 * Determines the owner of an object without an identity. Returns `left behind` if two conditions
 * hold. All parents of the object are in the state. The object was created during a run whose
 * results may be missing in the state.
 */
export function attributeUnmarkedObject(
  { parents, created }: UnmarkedObject,
  { owned, unsettled }: AttributionEvidence,
): Attribution {
  if (!parents.every((parent) => parent !== "" && owned.has(parent)))
    return createUnprovenAttribution("none of its parents is in the state");
  return attributeByTime(created, unsettled);
}

/**
 * Returns whether the object is in the state, or is retained although it is no longer in the state.
 */
const isKnown = (
  { id }: CloudObject,
  { owned, retained }: Pick<AttributionEvidence, "owned" | "retained">,
): boolean => owned.has(id) || retained.has(id);

/**
 * Returns whether the object is a server or a port of a server. Such an object may belong to a
 * running cluster even if it is missing in the state, because the state may be outdated.
 */
const isOfMachine = ({ kind, owner }: CloudObject): boolean =>
  kind === "server" || (kind === "port" && owner.startsWith("compute:"));

/**
 * Returns the periods in which a run may have created the object. For volumes and snapshots, leaves
 * out periods that are only an outer limit (`atMost`). Such a period is longer than the run, and a
 * user may have copied a volume or snapshot before or after the run.
 */
const whenOf = (object: CloudObject, { unsettled }: AttributionEvidence): readonly RunPeriod[] =>
  hasData(object) ? unsettled.filter(({ atMost }) => atMost !== true) : unsettled;

/**
 * Determines the owner of an object whose name is in a pending create operation. For most kinds, an
 * object with an identity from the state is `left behind`. Servers, ports of servers, volumes and
 * snapshots must also have been created in one of the periods. For volumes and snapshots, the
 * clocks may not differ, because a copy that a user made shortly after the run has the same
 * identity.
 */
export function attributeNamedObject(object: CloudObject, known: AttributionEvidence): Attribution {
  const { created } = object;
  if (isKnown(object, known)) return { is: "held" };
  const mark = getOwnership(object)?.mark;
  if (mark && !known.identities.has(mark.identity)) return { is: "another's" };
  const unsettled = whenOf(object, known);
  if (!mark) return createUnprovenAttribution("nothing on it names its owner");
  if (hasData(object)) return attributeByTime(created, unsettled, 0);
  return isOfMachine(object) ? attributeByTime(created, unsettled) : { is: "left behind" };
}

/**
 * Returns whether the program created the object for one of the stack's clusters, but the state
 * does not contain the object. The engine does not record a create that failed. The object's
 * identity proves its cluster. Returns false for volumes and snapshots, and for objects of the
 * cluster's controllers, which are never in a state.
 */
export function isUnrecorded(
  object: CloudObject,
  known: Pick<AttributionEvidence, "owned" | "retained" | "identities">,
): boolean {
  const ownership = getOwnership(object);
  return (
    ownership?.claim === "marked by stackadm" &&
    known.identities.has(ownership.mark.identity) &&
    ownership.kept !== true &&
    !isKnown(object, known) &&
    !hasData(object)
  );
}

/**
 * Returns whether the object is a subnet in a network of the state, and a destroy has failed. The
 * failed destroy may have removed the subnet from the state without deleting it in Neutron.
 */
const isForgotten = (
  { kind, network }: CloudObject,
  { owned, unsettled }: AttributionEvidence,
): boolean =>
  kind === "subnet" && owned.has(network) && unsettled.some(({ destroyed }) => destroyed === true);

/**
 * Determines the owner of an object for which `isUnrecorded` returns true. The identity alone does
 * not prove that the object was left behind: the state may be outdated, and a newer state may
 * contain the object. The object must also have been created in one of the periods.
 */
export function attributeUnrecordedObject(
  object: CloudObject,
  known: AttributionEvidence,
): Attribution {
  if (isOfMachine(object))
    return createUnprovenAttribution("it belongs to a machine that may be running");
  if (isForgotten(object, known)) return { is: "left behind" };
  return attributeUnmarkedObject({ parents: [], created: object.created }, known);
}

/**
 * Action of a destroy on an object. `delete`: the engine or the sweep deletes the object. `keep`:
 * the object is retained, or it has data and is not in the state. `released`: the cluster's
 * controllers delete or keep the object, by a policy that OpenStack does not show. The sweep keeps
 * such an object.
 */
export type Disposal = "delete" | "keep" | "released";

/** Object of the stack's clusters: in the state, retained, or with an identity from the state. */
export interface ClusterObject {
  readonly object: CloudObject;
  /**
   * Object with its identity. Absent if the object has no identity, and only the state shows that
   * the object belongs to the stack.
   */
  readonly marked?: OwnedObject | undefined;
  readonly disposal: Disposal;
}

type Holdings = Pick<AttributionEvidence, "owned" | "retained" | "identities">;

function disposalOf(
  object: CloudObject,
  marked: OwnedObject | undefined,
  { owned, retained }: Holdings,
): Disposal {
  if (retained.has(object.id)) return "keep";
  if (owned.has(object.id)) return "delete";
  if (marked && isKeptUnlessRequested(marked)) return "released";
  return hasData(object) ? "keep" : "delete";
}

/**
 * Returns the objects of the stack's clusters, and the action of a destroy on each object. Both the
 * plan of a destroy and the sweep use this function.
 */
export function findClusterObjects(
  inventory: readonly CloudObject[],
  holdings: Holdings,
): ClusterObject[] {
  const identified = new Map(
    filterOwnedObjects(inventory, holdings.identities).map((one) => [one.id, one]),
  );
  return inventory.flatMap((object): ClusterObject[] => {
    const marked = identified.get(object.id);
    if (!marked && !isKnown(object, holdings)) return [];
    return [{ object, marked, disposal: disposalOf(object, marked, holdings) }];
  });
}
