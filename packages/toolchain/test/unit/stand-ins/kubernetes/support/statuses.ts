import type { JsonObject } from "../../../../../stand-ins/plugin/values.js";

/** Answer of the fake server. */
export interface Answer {
  readonly code: number;
  readonly body: JsonObject;
}

/** Returns an error answer in Kubernetes' format `Status`. */
export const statusOf = (
  code: number,
  reason: string,
  message: string,
  details: JsonObject = {},
): Answer => ({
  code,
  body: { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message, details },
});
