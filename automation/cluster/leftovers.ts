import type { CloudObject, Kind } from "../../cloud/inventory.js";
import { hasData, ownershipOf } from "../../cloud/ownership.js";
import { fallsInto, type Stretch } from "./earlier-runs.js";

/*
 * Decides who owns an object that a run of this stack may have created without recording it in the
 * state. Servers without a record are decided in lost-servers.ts (docs/decisions/0019-repair.md).
 * Pure.
 */

/** Facts about a stack whose earlier run is examined. */
export interface Known {
  /** IDs of everything in the state. */
  readonly owned: ReadonlySet<string>;
  /** Identities of the clusters in the state. */
  readonly identities: ReadonlySet<string>;
  /** IDs of objects with `retainOnDelete`, also of those that the state has already forgotten. */
  readonly retained: ReadonlySet<string>;
  /** Periods of runs whose results may be missing in the state. */
  readonly unsettled: readonly Stretch[];
}

/**
 * Owner of an object. `left behind`: such a run created it. `unproven`: it may be anyone's. Only
 * objects that are left behind are ever deleted.
 */
export type Verdict =
  | { readonly is: "held" | "left behind" | "another's" }
  | { readonly is: "unproven"; readonly because: string };

/**
 * Parents and creation time of an object without an identity of a cluster. Parents are absent if
 * no parent tells which cluster owns the object.
 */
export interface Unmarked {
  readonly parents?: readonly string[];
  readonly created: string;
}

export const unproven = (because: string): Verdict => ({ is: "unproven", because });

/**
 * Decides by the creation time.
 *
 * @param clocks milliseconds by which clocks may differ. Default: one minute
 */
export function verdictByTime(
  created: string,
  unsettled: readonly Stretch[],
  clocks?: number,
): Verdict {
  if (created === "") return unproven("the cloud does not report when it was created");
  return fallsInto(created, unsettled, clocks)
    ? { is: "left behind" }
    : unproven("it was perhaps not created during such a run");
}

/**
 * Returns the verdict on an object without a mark. `left behind`: all its parents are in the state,
 * and its creation time falls into a run whose results may be missing in the state.
 */
export function verdictOnUnmarked(
  { parents, created }: Unmarked,
  { owned, unsettled }: Known,
): Verdict {
  if (parents === undefined) return unproven("nothing on it names its owner");
  if (!parents.every((parent) => parent !== "" && owned.has(parent)))
    return unproven("none of its parents is in the state");
  return verdictByTime(created, unsettled);
}

/**
 * Parents of objects of the kinds that earlier releases marked only by a second request, so that a
 * mark may be missing.
 */
const parentsOf: Readonly<Partial<Record<Kind, (object: CloudObject) => readonly string[]>>> = {
  subnet: ({ network }) => [network],
  port: ({ network }) => [network],
};

/**
 * Returns whether the object is in the state, or is a retained one that the state has forgotten.
 */
const isKnown = (
  { id }: CloudObject,
  { owned, retained }: Pick<Known, "owned" | "retained">,
): boolean => owned.has(id) || retained.has(id);

/**
 * Returns whether the object is a server or a server's port. The state may be outdated, and the
 * server part of a running cluster.
 */
const isOfMachine = ({ kind, owner }: CloudObject): boolean =>
  kind === "server" || (kind === "port" && owner.startsWith("compute:"));

/**
 * Returns the periods of runs that may have left the object. An object with data may be a user's
 * copy, made shortly before or after a run: only periods that are certain count.
 */
const whenOf = (object: CloudObject, { unsettled }: Known): readonly Stretch[] =>
  hasData(object) ? unsettled.filter(({ atMost }) => atMost !== true) : unsettled;

/**
 * Decides who owns an object with the name of an object that an interrupted run was creating. A
 * mark is enough, except for servers and objects with data: their creation time must match, too. A
 * copy of an object with data also has the mark, so its time must match exactly.
 */
export function verdictOn(object: CloudObject, known: Known): Verdict {
  const { created, kind } = object;
  if (isKnown(object, known)) return { is: "held" };
  const mark = ownershipOf(object)?.mark;
  if (mark && !known.identities.has(mark.identity)) return { is: "another's" };
  const unsettled = whenOf(object, known);
  if (!mark) {
    const parents = parentsOf[kind]?.(object);
    return verdictOnUnmarked({ ...(parents && { parents }), created }, { ...known, unsettled });
  }
  if (hasData(object)) return verdictByTime(created, unsettled, 0);
  return isOfMachine(object) ? verdictByTime(created, unsettled) : { is: "left behind" };
}

/**
 * Returns whether the program created the object for one of the stack's clusters, by its mark, but
 * the state does not contain it: the engine forgets a create that failed. Objects that a cluster's
 * controllers created are in no state.
 */
export function isLost(
  object: CloudObject,
  known: Pick<Known, "owned" | "retained" | "identities">,
): boolean {
  const ownership = ownershipOf(object);
  return (
    ownership?.claim === "marked by stackadm" &&
    known.identities.has(ownership.mark.identity) &&
    !isKnown(object, known) &&
    !hasData(object)
  );
}

/**
 * Returns whether it is a subnet in a network of ours and a destroy failed: the destroy may have
 * removed the subnet from the state before it deleted it.
 */
const isForgotten = ({ kind, network }: CloudObject, { owned, unsettled }: Known): boolean =>
  kind === "subnet" && owned.has(network) && unsettled.some(({ destroyed }) => destroyed === true);

/**
 * Decides for an object for which `isLost` is true. No record proves that it is half made, and the
 * state may be outdated: so its creation time must match, too.
 */
export function verdictOnLost(object: CloudObject, known: Known): Verdict {
  if (isOfMachine(object)) return unproven("it belongs to a machine that may be running");
  if (isForgotten(object, known)) return { is: "left behind" };
  return verdictOnUnmarked({ parents: [], created: object.created }, known);
}

/**
 * Returns whether a destroy keeps the object, whatever its mark: it is retained, or it has data and
 * is not in the state.
 */
export const isSpared = (
  object: CloudObject,
  { owned, retained }: Pick<Known, "owned" | "retained">,
): boolean => retained.has(object.id) || (hasData(object) && !owned.has(object.id));
