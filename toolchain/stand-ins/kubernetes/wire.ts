/** Pulumi's properties as Kubernetes objects and back, with the secrets among them. */
import { asSecret, isObject, isSecret } from "../plugin/values.js";
import type { Json, JsonObject } from "../plugin/values.js";
import { rewrite } from "./json.js";

/** Whether a secret hides anywhere in the value. */
export function containsSecret(value: Json): boolean {
  if (isSecret(value)) return true;
  if (Array.isArray(value)) return value.some(containsSecret);
  return isObject(value) && Object.values(value).some(containsSecret);
}

/** Keys that Kubernetes writes with dashes and Pulumi's SDKs with underscores. */
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

/** Properties as a Kubernetes object: bare values, keys as Kubernetes writes them. Unknowns stay. */
export function toObject(properties: JsonObject): JsonObject {
  return rewrite(
    properties,
    (value) => (isSecret(value) ? (value["value"] ?? null) : value),
    (key) => toDashes.get(key) ?? key,
  ) as JsonObject;
}

/** A Kubernetes object as output properties: keys as the SDKs read them. */
export function toProperties(object: JsonObject): JsonObject {
  return rewrite(
    object,
    (value) => value,
    (key) => toUnderscores.get(key) ?? key,
  ) as JsonObject;
}

/**
 * Marks in `outs` what is secret in `ins`. A Secret's data and stringData always are. Within maps only the parts
 * concerned are marked; a list with one secret item is secret as a whole, since items may move.
 */
export function annotateSecrets(outs: JsonObject, ins: JsonObject): void {
  if (outs["kind"] === "Secret") {
    for (const key of ["data", "stringData"]) {
      const value = outs[key];
      if (value !== undefined) outs[key] = asSecret(value);
    }
    return;
  }
  for (const [key, input] of Object.entries(ins)) {
    const output = outs[key];
    if (output === undefined) continue;
    const plain = (value: Json): value is JsonObject => isObject(value) && !isSecret(value);
    if (plain(output) && plain(input)) annotateSecrets(output, input);
    else if (containsSecret(input)) outs[key] = asSecret(output);
  }
}
