import type { DecodedEngineEvent, ResourceChange } from "./events.js";

/** Planned change of one resource. */
export interface PlanRow {
  /**
   * Pulumi's name of the operation: create, update, delete, replace, ... `repair` is a pending
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
 * Returns the number of resources that differed from the state, according to the events of a
 * refresh.
 *
 * @param additional more differing resources, which the refresh may not report
 */
export function countDriftedResources(
  events: readonly DecodedEngineEvent[],
  additional: readonly PlanRow[],
): number {
  const seen = events.flatMap((event) => (event.type === "finished" ? [event.change] : []));
  return seen.length + additional.filter((row) => !seen.some((one) => isSame(one, row))).length;
}

/**
 * Returns the rows of the engine's plan, in the engine's order. Leaves out providers.
 *
 * @param settled URNs of resources whose planned changes will not happen. See
 * `findUnconvertedServerGroups` in plugin-conversion.ts
 */
export function createPlanRows(
  events: readonly DecodedEngineEvent[],
  settled: ReadonlySet<string> = new Set(),
): PlanRow[] {
  const isWork = ({ urn }: ResourceChange): boolean =>
    !urn.includes("::pulumi:providers:") && !settled.has(urn);
  return events.flatMap((event) =>
    event.type === "started" && isWork(event.change)
      ? [{ operation: event.change.operation, type: event.change.type, name: event.change.name }]
      : [],
  );
}

const isRepair = ({ operation }: PlanRow): boolean => operation === "repair";

/**
 * Merges the rows of all steps. If several steps have rows for one resource, uses the rows of the
 * first of these steps. But drops a row `repair` if a later step has a row for the same resource.
 *
 * @param plans rows of each step, in the order of the steps
 */
export const mergeRows = (plans: readonly (readonly PlanRow[])[]): PlanRow[] =>
  plans.flatMap((rows, step) => {
    const earlier = plans.slice(0, step).flat();
    const later = plans.slice(step + 1).flat();
    return rows.filter((row) =>
      isRepair(row)
        ? !later.some((one) => isSame(one, row))
        : !earlier.some((one) => !isRepair(one) && isSame(one, row)),
    );
  });
