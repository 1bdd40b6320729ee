import { strict as assert } from "node:assert";
import { awaited } from "../../../../../stand-ins/kubernetes/await/wait.js";
import type { Verdict } from "../../../../../stand-ins/kubernetes/await/readiness.js";
import { ApiError } from "../../../../../stand-ins/kubernetes/client/client.js";
import type { ObjectClient } from "../../../../../stand-ins/kubernetes/client/object-client.js";
import { textAt } from "../../../../../stand-ins/kubernetes/objects/json.js";
import type { JsonObject } from "../../../../../stand-ins/plugin/values.js";

/** Returns a cluster that contains these objects. */
export function clusterOf(...objects: JsonObject[]): ObjectClient {
  const fake = {
    get: (wanted: JsonObject) => {
      const found = objects.find(
        (object) =>
          object["kind"] === wanted["kind"] &&
          textAt(object, "metadata", "name") === textAt(wanted, "metadata", "name"),
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
export const look = (
  kind: string,
  live: JsonObject,
  ...others: JsonObject[]
): Verdict | Promise<Verdict> => {
  const of = awaited[kind];
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
export const texts = (verdict: Verdict): string[] =>
  verdict.messages.map((message) => message.text);
