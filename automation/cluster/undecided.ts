import type { ClusterEvent } from "./events.js";
import { recoveryStep } from "./recovery-steps.js";
import type { PendingOperation } from "./state.js";
import { parseUrn } from "./urn.js";

/*
 * A create whose answer was lost fails like any other, and the engine forgets it, although the
 * cloud may have created the object. It is the same as a pending create of a killed engine, so the
 * same repair handles it.
 */

/**
 * Matches errors by which the cloud refused the create request itself: it created nothing. Later
 * requests (is the object ready, its tags) may be refused for an object that exists. A conflict
 * (409) may come from the object of a lost answer.
 */
const refusal =
  /(?:Bad request with|Request forbidden|Resource not found): \[POST |\[POST \S+\], but got 4(?!08|09)\d\d\b/;

const isOfCloud = (urn: string): boolean => parseUrn(urn).type.startsWith("openstack:");

export interface UndecidedCreate {
  /** Pending operation, as a killed engine would have left it. */
  readonly operation: PendingOperation;
  /** Whether the state holds another resource with this URN that the create was to replace. */
  readonly replaces: boolean;
}

/** Collects the creates in the cloud whose result is unknown. */
export class UndecidedCreates {
  private readonly failed = new Map<string, UndecidedCreate>();
  private readonly refused = new Set<string>();

  take(event: ClusterEvent): void {
    if (event.type === "message" && refusal.test(event.text)) this.refused.add(event.urn);
    // A failed create may be retried in the same run.
    if (event.type === "finished") this.failed.delete(event.change.urn);
    if (event.type !== "failed" || !event.change.operation.startsWith("create")) return;
    const { urn } = event.change;
    const replaces = event.change.operation !== "create";
    const resource = { urn, type: parseUrn(urn).type, custom: true, inputs: event.inputs };
    const operation = { type: "creating", resource };
    if (isOfCloud(urn) && recoveryStep(operation).act !== "forget")
      this.failed.set(urn, { operation, replaces });
  }

  creates(): UndecidedCreate[] {
    return [...this.failed].flatMap(([urn, one]) => (this.refused.has(urn) ? [] : [one]));
  }
}
