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
 * Converts Pulumi's properties to a Kubernetes object: with secrets in plain text, and with the
 * keys in Kubernetes' spelling. Keeps unknown values.
 */
export function toKubernetesObject(properties: JsonObject): JsonObject {
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
 * Marks a value in `outs` as secret if the same value is secret in `ins`. The data and stringData
 * of a Secret are always secret. In maps, marks only the affected values. If one item of a list is
 * secret, marks the whole list, because items may move.
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
