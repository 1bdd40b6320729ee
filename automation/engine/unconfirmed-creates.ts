import type { ClusterEvent } from "../pulumi/events.js";
import { undoStepOf } from "../pulumi/pending-operations.js";
import type { PendingOperation } from "../pulumi/stack-state.js";
import { parseUrn } from "../pulumi/urn.js";

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

/** Matches the provider's other errors of an attempt to create an object. */
const failure = /\bcreat(?:e|ing)\b/i;

const isOfCloud = (urn: string): boolean => parseUrn(urn).type.startsWith("openstack:");

export interface UnconfirmedCreate {
  /** Pending operation, as the state would contain it after a kill of the engine. */
  readonly operation: PendingOperation;
  /** Whether the state holds another resource with this URN that the create was to replace. */
  readonly replaces: boolean;
}

/** Collects the creates in the cloud whose result is unknown. */
export class UnconfirmedCreates {
  private readonly failed = new Map<string, UnconfirmedCreate>();
  /** URNs of creates with an attempt that the cloud refused. */
  private readonly refused = new Set<string>();
  /** URNs of creates with an attempt that may have created an object. */
  private readonly unanswered = new Set<string>();

  take(event: ClusterEvent): void {
    if (event.type === "message") this.takeError(event.urn, event.text);
    // A failed create may be retried in the same run.
    if (event.type === "finished") this.failed.delete(event.change.urn);
    if (event.type !== "failed" || !event.change.operation.startsWith("create")) return;
    const { urn } = event.change;
    const replaces = event.change.operation !== "create";
    const resource = { urn, type: parseUrn(urn).type, custom: true, inputs: event.inputs };
    const operation = { type: "creating", resource };
    if (isOfCloud(urn) && undoStepOf(operation).act !== "forget")
      this.failed.set(urn, { operation, replaces });
  }

  private takeError(urn: string, text: string): void {
    if (refusal.test(text)) this.refused.add(urn);
    else if (failure.test(text)) this.unanswered.add(urn);
  }

  creates(): UnconfirmedCreate[] {
    return [...this.failed].flatMap(([urn, one]) => (this.isRefused(urn) ? [] : [one]));
  }

  /** Returns whether the cloud refused all attempts: a create may be retried in the same run. */
  private isRefused(urn: string): boolean {
    return this.refused.has(urn) && !this.unanswered.has(urn);
  }
}
