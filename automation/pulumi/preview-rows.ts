import type { ClusterEvent, ResourceChange } from "./events.js";

/** Planned change of one resource. */
export interface PlanRow {
  /**
   * Pulumi's name of the operation: create, update, delete, replace, ...; `repair` for a pending
   * operation of an earlier run, which is repaired before the engine starts.
   */
  readonly operation: string;
  readonly type: string;
  readonly name: string;
}

/** Returns whether both rows are about the same resource. */
const isSame = (one: Omit<PlanRow, "operation">, other: Omit<PlanRow, "operation">): boolean =>
  one.type === other.type && one.name === other.name;

/**
 * Returns the number of resources that differed from the state.
 *
 * @param besides changes that the refresh does not report, because the state may already match
 */
export function countDiffering(
  events: readonly ClusterEvent[],
  besides: readonly PlanRow[],
): number {
  const seen = events.flatMap((event) => (event.type === "finished" ? [event.change] : []));
  return seen.length + besides.filter((row) => !seen.some((one) => isSame(one, row))).length;
}

/**
 * Returns the rows of a plan, in the order of the engine, without providers.
 *
 * @param before changes before the engine starts; these rows replace the engine's rows for the same
 * resources
 * @param settled URNs of resources whose planned changes will not happen; see `takenOver` in
 * plugin-conversion.ts
 */
export function planRows(
  events: readonly ClusterEvent[],
  before: readonly PlanRow[] = [],
  settled: ReadonlySet<string> = new Set(),
): PlanRow[] {
  const isWork = ({ urn }: ResourceChange): boolean =>
    !urn.includes("::pulumi:providers:") && !settled.has(urn);
  const rows = events.flatMap((event) =>
    event.type === "started" && isWork(event.change)
      ? [{ operation: event.change.operation, type: event.change.type, name: event.change.name }]
      : [],
  );
  return [...before, ...rows.filter((row) => !before.some((one) => isSame(one, row)))];
}

/**
 * Returns one row per resource, in the order of the steps that plan them. The first row about a
 * resource counts, because that step changes the resource first; but a row `repair` gives way to
 * what happens to the resource afterwards.
 */
export function mergeRows(rows: readonly PlanRow[]): PlanRow[] {
  const isRepair = ({ operation }: PlanRow): boolean => operation === "repair";
  return rows.filter((row, index) =>
    isRepair(row)
      ? !rows.some((other) => !isRepair(other) && isSame(other, row))
      : rows.findIndex((other) => !isRepair(other) && isSame(other, row)) === index,
  );
}
