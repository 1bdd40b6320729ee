import type { CloudObject, Kind } from "../../cloud/inventory.js";
import { hasData, ownershipOf } from "../../cloud/ownership.js";
import { fallsInto, type Stretch } from "./earlier-runs.js";

/*
 * Whose is a thing that a run of this stack may have made without the state knowing it? Decided here, of servers without a record in lost-servers.ts, and nowhere else
 * (docs/decisions/0019-repair.md). Pure.
 */

/** What is known of a stack whose earlier run is looked into. */
export interface Known {
  /** IDs of everything that the state holds. */
  readonly owned: ReadonlySet<string>;
  /** Identities of the clusters that the state holds. */
  readonly identities: ReadonlySet<string>;
  /** IDs of what the program has stay, also where the state has forgotten it. */
  readonly retained: ReadonlySet<string>;
  /** When runs were at work of which the state may not know everything. */
  readonly unsettled: readonly Stretch[];
}

/** `left behind`: such a run made it. `unproven`: it may be anybody's. Only what is left behind is ever touched. */
export type Verdict =
  | { readonly is: "held" | "left behind" | "another's" }
  | { readonly is: "unproven"; readonly because: string };

/** A thing that carries no mark: what it is a part of (absent: of nothing that says whose it is), and when it was made. */
export interface Unmarked {
  readonly parents?: readonly string[];
  readonly created: string;
}

export const unproven = (because: string): Verdict => ({ is: "unproven", because });

/** @param clocks so many milliseconds they may differ. Default: a minute */
export function verdictByTime(
  created: string,
  unsettled: readonly Stretch[],
  clocks?: number,
): Verdict {
  if (created === "") return unproven("the cloud does not say when it was made");
  return fallsInto(created, unsettled, clocks)
    ? { is: "left behind" }
    : unproven("it was not certainly made while such a run was at work");
}

/** Without a mark, the parents and the time have to say the same. */
export function verdictOnUnmarked(
  { parents, created }: Unmarked,
  { owned, unsettled }: Known,
): Verdict {
  if (parents === undefined) return unproven("nothing on it says whose it is");
  if (!parents.every((parent) => parent !== "" && owned.has(parent)))
    return unproven("it belongs to nothing that the state holds");
  return verdictByTime(created, unsettled);
}

/** What an object without a mark has to be in to be of the cluster: earlier releases gave these one by a second request. */
const parentsOf: Readonly<Partial<Record<Kind, (object: CloudObject) => readonly string[]>>> = {
  subnet: ({ network }) => [network],
  port: ({ network }) => [network],
};

/** What the state holds, or has forgotten and remembers. */
const isKnown = (
  { id }: CloudObject,
  { owned, retained }: Pick<Known, "owned" | "retained">,
): boolean => owned.has(id) || retained.has(id);

/** A server, or what one has its address by: the state may be an old one, and the server part of a cluster that lives. */
const isOfMachine = ({ kind, owner }: CloudObject): boolean =>
  kind === "server" || (kind === "port" && owner.startsWith("compute:"));

/** When runs were at work that may have left it. What has data may be a copy, and somebody may have made it shortly before the run, or after. */
const whenOf = (object: CloudObject, { unsettled }: Known): readonly Stretch[] =>
  hasData(object) ? unsettled.filter(({ atMost }) => atMost !== true) : unsettled;

/**
 * Whose an object is that has the name of what an interrupted run was making. A mark decides alone, but for what cannot be made again: there
 * the time has to say the same. A copy of what has data has the mark, too, so there it has to be exact.
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
 * What the program made for one of the stack's clusters, as its mark says, and the state does not hold: the engine forgets a create
 * that failed. What a cluster's own controllers made is in no state.
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

/** A subnet of a network of ours, which goes with it: a destroy that failed has forgotten it, whenever it was made. */
const isForgotten = ({ kind, network }: CloudObject, { owned, unsettled }: Known): boolean =>
  kind === "subnet" && owned.has(network) && unsettled.some(({ destroyed }) => destroyed === true);

/** Whose that is. No record says that it is half made, and the state may be an old one: the time has to say it, too. */
export function verdictOnLost(object: CloudObject, known: Known): Verdict {
  if (isOfMachine(object)) return unproven("it is a machine's, and may be at work");
  if (isForgotten(object, known)) return { is: "left behind" };
  return verdictOnUnmarked({ parents: [], created: object.created }, known);
}

/** Whether a destroy leaves it, whatever mark it has: the program has it stay, or it has data and the state does not hold it. */
export const isSpared = (
  object: CloudObject,
  { owned, retained }: Pick<Known, "owned" | "retained">,
): boolean => retained.has(object.id) || (hasData(object) && !owned.has(object.id));
