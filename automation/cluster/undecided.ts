import type { ClusterEvent } from "./events.js";
import { recoveryStep } from "./recovery-steps.js";
import type { PendingOperation } from "./state.js";
import { parseUrn } from "./urn.js";

/*
 * Collects creates whose answer was lost. Such a create fails like any other, and the engine
 * forgets it, although the cloud may have created the object. The repair treats it like a pending
 * create of a killed engine.
 */

/**
 * Matches errors by which the cloud refused the create request itself, so that no object exists.
 * Does not match refusals of later requests (for the object's status or tags), because the object
 * exists then. Does not match conflicts (409) and timeouts (408): a request whose answer was lost
 * may have created the object.
 */
const refusal =
  /(?:Bad request with|Request forbidden|Resource not found): \[POST |\[POST \S+\], but got 4(?!08|09)\d\d\b/;

const isOfCloud = (urn: string): boolean => parseUrn(urn).type.startsWith("openstack:");

export interface UndecidedCreate {
  /** Pending operation, as the state would contain it after a kill of the engine. */
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
