import type { ClusterEvent } from "./events.js";

/** What would happen to one resource. */
export interface PlanRow {
  /** The engine's word: create, update, delete, replace, ... */
  readonly operation: string;
  readonly type: string;
  readonly name: string;
}

/** The rows of a plan, in the order of the engine. Providers are no work. */
export function planRows(events: readonly ClusterEvent[]): PlanRow[] {
  return events.flatMap((event) =>
    event.type === "started" && !event.change.urn.includes("::pulumi:providers:")
      ? [{ operation: event.change.operation, type: event.change.type, name: event.change.name }]
      : [],
  );
}
