import { strict as assert } from "node:assert";
import { readinessChecksByKind } from "../../../../../stand-ins/kubernetes/await/wait.js";
import type { ReadinessResult } from "../../../../../stand-ins/kubernetes/await/readiness.js";
import { ApiError } from "../../../../../stand-ins/kubernetes/client/client.js";
import type { ObjectClient } from "../../../../../stand-ins/kubernetes/client/object-client.js";
import { getTextAt } from "../../../../../stand-ins/kubernetes/objects/json.js";
import type { JsonObject } from "../../../../../stand-ins/plugin/values.js";

/** Returns the client of a fake cluster that contains these objects. */
export function clusterOf(...objects: JsonObject[]): ObjectClient {
  const fake = {
    get: (wanted: JsonObject) => {
      const found = objects.find(
        (object) =>
          object["kind"] === wanted["kind"] &&
          getTextAt(object, "metadata", "name") === getTextAt(wanted, "metadata", "name"),
      );
      return found
        ? Promise.resolve(found)
        : Promise.reject(new ApiError(404, { message: "not found" }));
    },
    list: (kind: JsonObject) =>
      Promise.resolve(objects.filter((object) => object["kind"] === kind["kind"])),
    discovery: { exists: () => Promise.resolve(true) },
  };
  return fake as unknown as ObjectClient;
}

/** Checks once whether an object is ready. The cluster also contains `others`. */
export const checkReadiness = (
  kind: string,
  live: JsonObject,
  ...others: JsonObject[]
): ReadinessResult | Promise<ReadinessResult> => {
  const of = readinessChecksByKind[kind];
  assert.ok(of, kind);
  return of({ cluster: clusterOf(...others), settle: 0 })(live);
};
export const condition = (
  type: string,
  status = "True",
  reason = "",
  message = "",
): JsonObject => ({
  type,
  status,
  reason,
  message,
});
export const texts = (verdict: ReadinessResult): string[] =>
  verdict.messages.map((message) => message.text);
