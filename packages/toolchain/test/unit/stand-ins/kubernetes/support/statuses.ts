import type { JsonObject } from "../../../../../stand-ins/plugin/values.js";

/** Answer of the server. */
export interface Answer {
  readonly code: number;
  readonly body: JsonObject;
}

/** Returns an error answer in the form of Kubernetes. */
export const statusOf = (
  code: number,
  reason: string,
  message: string,
  details: JsonObject = {},
): Answer => ({
  code,
  body: { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message, details },
});
