import type { DecodedEngineEvent } from "../pulumi/events.js";
import { getUndoStep } from "../pulumi/pending-operations.js";
import type { PendingOperation } from "../pulumi/stack-state.js";
import { parseUrn } from "../pulumi/urn.js";

/*
 * Collects create requests whose answer was lost. The engine treats such a create as failed and
 * forgets it, although the cloud may have created the object. The repair handles these creates like
 * pending creates of a killed engine.
 */

/**
 * Matches errors which prove that no object exists, because the cloud refused the create request
 * itself. Does not match refusals of later requests (for the object's status or tags), because the
 * object then exists. Does not match conflicts (409) and timeouts (408), because an earlier request
 * without an answer may have created the object.
 */
const refusal =
  /(?:Bad request with|Request forbidden|Resource not found): \[POST |\[POST \S+\], but got 4(?!08|09)\d\d\b/;

/** Matches the provider's other errors about the creation of an object. */
const failure = /\bcreat(?:e|ing)\b/i;

const isOfCloud = (urn: string): boolean => parseUrn(urn).type.startsWith("openstack:");

export interface UnconfirmedCreate {
  /** Pending operation, in the form that the state would contain if the engine had been killed. */
  readonly operation: PendingOperation;
  /**
   * Whether the create was part of a replacement. The state then contains the old resource with the
   * same URN.
   */
  readonly replaces: boolean;
}

/** Collects the creates of cloud objects whose result is unknown. */
export class UnconfirmedCreates {
  private readonly failed = new Map<string, UnconfirmedCreate>();
  /** URNs of creates with at least one attempt that the cloud refused. */
  private readonly refused = new Set<string>();
  /** URNs of creates with at least one attempt that may have created an object. */
  private readonly unanswered = new Set<string>();

  processEvent(event: DecodedEngineEvent): void {
    if (event.type === "message") this.takeError(event.urn, event.text);
    // The create may have failed first, and then succeeded in a retry of the same run.
    if (event.type === "finished") this.failed.delete(event.change.urn);
    if (event.type !== "failed" || !event.change.operation.startsWith("create")) return;
    const { urn } = event.change;
    const replaces = event.change.operation !== "create";
    const resource = { urn, type: parseUrn(urn).type, custom: true, inputs: event.inputs };
    const operation = { type: "creating", resource };
    if (isOfCloud(urn) && getUndoStep(operation).act !== "forget")
      this.failed.set(urn, { operation, replaces });
  }

  private takeError(urn: string, text: string): void {
    if (refusal.test(text)) this.refused.add(urn);
    else if (failure.test(text)) this.unanswered.add(urn);
  }

  creates(): UnconfirmedCreate[] {
    return [...this.failed].flatMap(([urn, one]) => (this.isRefused(urn) ? [] : [one]));
  }

  /**
   * Returns whether the cloud refused all attempts. A create may have several attempts in one run.
   */
  private isRefused(urn: string): boolean {
    return this.refused.has(urn) && !this.unanswered.has(urn);
  }
}
