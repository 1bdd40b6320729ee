import type { Cluster } from "../cluster.js";
import type { Severity } from "../log.js";
import type { JsonObject } from "../../plugin/values.js";

/** What one look at an object says. */
export interface Verdict {
  readonly ready: boolean;
  /** It will never become ready: waiting longer is of no use. */
  readonly failed?: boolean;
  /** What is happening, to be shown. */
  readonly messages: readonly { readonly severity: Severity; readonly text: string }[];
  /** What is wrong, said only when waiting ends badly. */
  readonly problems: readonly string[];
}

export interface ReadinessContext {
  readonly cluster: Cluster;
  /** Milliseconds without a change until endpoints count as settled; 0 for a refresh, which looks once. */
  readonly settle: number;
}

/** Looks at an object again and again; may remember between looks. */
export type Readiness = (live: JsonObject) => Verdict | Promise<Verdict>;
export type ReadinessOf = (context: ReadinessContext) => Readiness;

export const info = (text: string) => ({ severity: "info", text }) as const;
export const warning = (text: string) => ({ severity: "warning", text }) as const;
