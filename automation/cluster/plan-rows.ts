import type { ClusterEvent } from "./events.js";

/** What would happen to one resource. */
export interface PlanRow {
  /** The engine's word: create, update, delete, replace, ...; `repair` before it begins: what a run left undecided. */
  readonly operation: string;
  readonly type: string;
  readonly name: string;
}

/**
 * The rows of a plan, in the order of the engine. Providers are no work.
 *
 * @param before what is done before the engine begins, which says nothing else of that
 */
export function planRows(
  events: readonly ClusterEvent[],
  before: readonly PlanRow[] = [],
): PlanRow[] {
  const rows = events.flatMap((event) =>
    event.type === "started" && !event.change.urn.includes("::pulumi:providers:")
      ? [{ operation: event.change.operation, type: event.change.type, name: event.change.name }]
      : [],
  );
  const isSaid = (row: PlanRow): boolean =>
    before.some(({ type, name }) => type === row.type && name === row.name);
  return [...before, ...rows.filter((row) => !isSaid(row))];
}
