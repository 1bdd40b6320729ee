import type { ClusterEvent, ResourceChange } from "./events.js";
import { serverGroupType } from "./urn.js";

/** What would happen to one resource. */
export interface PlanRow {
  /** The engine's word: create, update, delete, replace, ...; `repair` before it begins: what a run left undecided. */
  readonly operation: string;
  readonly type: string;
  readonly name: string;
}

/** Whether two rows, or what was done, are of the same resource. */
const isSame = (one: Omit<PlanRow, "operation">, other: Omit<PlanRow, "operation">): boolean =>
  one.type === other.type && one.name === other.name;

/**
 * How many resources were not as the state said.
 *
 * @param besides what a refresh does not see: the state may say the same of it
 */
export function countDiffering(
  events: readonly ClusterEvent[],
  besides: readonly PlanRow[],
): number {
  const seen = events.flatMap((event) => (event.type === "finished" ? [event.change] : []));
  return seen.length + besides.filter((row) => !seen.some((one) => isSame(one, row))).length;
}

/**
 * Returns whether a step is work on something. Providers are none, nor is a change of a server group: no version of the plugin can make
 * one, and the engine only speaks of it where the state has another version's form (plugin-forms.ts).
 */
const isWork = ({ urn, operation }: ResourceChange): boolean =>
  !urn.includes("::pulumi:providers:") &&
  !(operation === "update" && urn.includes(`${serverGroupType}::`));

/**
 * The rows of a plan, in the order of the engine.
 *
 * @param before what is done before the engine begins, which says nothing else of that
 */
export function planRows(
  events: readonly ClusterEvent[],
  before: readonly PlanRow[] = [],
): PlanRow[] {
  const rows = events.flatMap((event) =>
    event.type === "started" && isWork(event.change)
      ? [{ operation: event.change.operation, type: event.change.type, name: event.change.name }]
      : [],
  );
  return [...before, ...rows.filter((row) => !before.some((one) => isSame(one, row)))];
}
