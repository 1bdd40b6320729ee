import type { ObjectClient } from "../client/object-client.js";
import type { Severity } from "../engine-messages.js";
import type { JsonObject } from "../../plugin/values.js";

/** Result of one check of an object. */
export interface ReadinessResult {
  readonly ready: boolean;
  /** Whether the object can never become ready. If so, the wait ends. */
  readonly failed?: boolean;
  /** Messages about the progress that are shown to the user. */
  readonly messages: readonly { readonly severity: Severity; readonly text: string }[];
  /** Problems that are reported only if the wait fails. */
  readonly problems: readonly string[];
}

export interface ReadinessContext {
  readonly cluster: ObjectClient;
  /**
   * Time in milliseconds after which unchanged endpoints count as stable. A refresh checks only
   * once, so it uses 0.
   */
  readonly settle: number;
}

/** Function that checks an object repeatedly. It may keep state between the checks. */
export type ReadinessCheck = (live: JsonObject) => ReadinessResult | Promise<ReadinessResult>;
export type CreateReadinessCheck = (context: ReadinessContext) => ReadinessCheck;

export const createInfoMessage = (text: string) => ({ severity: "info", text }) as const;
export const createWarningMessage = (text: string) => ({ severity: "warning", text }) as const;
