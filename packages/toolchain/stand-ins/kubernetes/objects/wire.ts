/** Converts Pulumi's properties, including secrets, to Kubernetes objects and back. */
import { wrapSecret, isObject, isSecret } from "../../plugin/values.js";
import type { Json, JsonObject } from "../../plugin/values.js";
import { rewrite } from "./json.js";

/** Reports whether the value contains a secret at any depth. */
export function containsSecret(value: Json): boolean {
  if (isSecret(value)) return true;
  if (Array.isArray(value)) return value.some(containsSecret);
  return isObject(value) && Object.values(value).some(containsSecret);
}

/** Keys that have dashes in Kubernetes and underscores in Pulumi's SDKs. */
const dashed = [
  "embedded-resource",
  "int-or-string",
  "list-map-keys",
  "list-type",
  "map-type",
  "preserve-unknown-fields",
  "validations",
].map((name) => `x-kubernetes-${name}`);
const toDashes = new Map(dashed.map((key) => [key.replaceAll("-", "_"), key]));
const toUnderscores = new Map(dashed.map((key) => [key, key.replaceAll("-", "_")]));

/**
 * Converts properties to a Kubernetes object with plain values and Kubernetes' keys. Keeps unknown
 * values.
 */
export function toObject(properties: JsonObject): JsonObject {
  return rewrite(
    properties,
    (value) => (isSecret(value) ? (value["value"] ?? null) : value),
    (key) => toDashes.get(key) ?? key,
  ) as JsonObject;
}

/** Converts a Kubernetes object to output properties with the SDKs' keys. */
export function toProperties(object: JsonObject): JsonObject {
  return rewrite(
    object,
    (value) => value,
    (key) => toUnderscores.get(key) ?? key,
  ) as JsonObject;
}

/**
 * Marks values in `outs` as secret if they are secret in `ins`. A Secret's data and stringData are
 * always secret. In maps, marks only the affected values. A list with one secret item is secret as
 * a whole, because items may move.
 */
export function annotateSecrets(outs: JsonObject, ins: JsonObject): void {
  if (outs["kind"] === "Secret") {
    for (const key of ["data", "stringData"]) {
      const value = outs[key];
      if (value !== undefined) outs[key] = wrapSecret(value);
    }
    return;
  }
  for (const [key, input] of Object.entries(ins)) {
    const output = outs[key];
    if (output === undefined) continue;
    const plain = (value: Json): value is JsonObject => isObject(value) && !isSecret(value);
    if (plain(output) && plain(input)) annotateSecrets(output, input);
    else if (containsSecret(input)) outs[key] = wrapSecret(output);
  }
}
