import type { JsonObject } from "../../../../../../toolchain/stand-ins/plugin/values.js";

/** What the server sends back. */
export interface Answer {
  readonly code: number;
  readonly body: JsonObject;
}

/** An answer that is no success, as Kubernetes writes it. */
export const statusOf = (
  code: number,
  reason: string,
  message: string,
  details: JsonObject = {},
): Answer => ({
  code,
  body: { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message, details },
});
