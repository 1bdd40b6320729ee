import type { ObjectClient } from "../client/object-client.js";
import type { Severity } from "../engine-messages.js";
import type { JsonObject } from "../../plugin/values.js";

/** Result of one check of an object. */
export interface ReadinessResult {
  readonly ready: boolean;
  /** Whether the object can never become ready. If so, the wait ends. */
  readonly failed?: boolean;
  /** Messages about the progress, to be shown. */
  readonly messages: readonly { readonly severity: Severity; readonly text: string }[];
  /** Problems, which are reported only if the wait fails. */
  readonly problems: readonly string[];
}

export interface ReadinessContext {
  readonly cluster: ObjectClient;
  /**
   * Time in milliseconds without a change after which endpoints count as stable. 0 for a refresh,
   * which checks once.
   */
  readonly settle: number;
}

/** Function that checks an object repeatedly. It may keep state between the checks. */
export type ReadinessCheck = (live: JsonObject) => ReadinessResult | Promise<ReadinessResult>;
export type CreateReadinessCheck = (context: ReadinessContext) => ReadinessCheck;

export const createInfoMessage = (text: string) => ({ severity: "info", text }) as const;
export const createWarningMessage = (text: string) => ({ severity: "warning", text }) as const;
