import type { ClusterEvent } from "./events.js";
import { recoveryStep } from "./recovery-steps.js";
import type { PendingOperation } from "./state.js";
import { parseUrn } from "./urn.js";

/*
 * A create whose reply was lost fails like any other, and the engine forgets it: nobody knows then whether the cloud made the thing.
 * What a killed engine leaves pending is the same, so the same repair decides it.
 */

/**
 * The cloud said no to the create itself: it made nothing. What is asked afterwards (whether it is ready, its tags) may be refused of
 * something that was made. A conflict may be with what a reply was lost of.
 */
const refusal =
  /(?:Bad request with|Request forbidden|Resource not found): \[POST |\[POST \S+\], but got 4(?!08|09)\d\d\b/;

const isOfCloud = (urn: string): boolean => parseUrn(urn).type.startsWith("openstack:");

export interface UndecidedCreate {
  /** As the engine would have left it pending. */
  readonly operation: PendingOperation;
  /** Whether the state holds another one by its URN, which it is to replace. */
  readonly replaces: boolean;
}

/** Notes of which creates in the cloud nobody knows how they ended. */
export class UndecidedCreates {
  private readonly failed = new Map<string, UndecidedCreate>();
  private readonly refused = new Set<string>();

  take(event: ClusterEvent): void {
    if (event.type === "message" && refusal.test(event.text)) this.refused.add(event.urn);
    // One that failed may be tried again in the same run.
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
