import { parse } from "yaml";
import {
  getValueAt,
  isEqual,
  getListAt,
  getMapAt,
  removeAt,
  setAt,
  getTextAt,
} from "../../../../../stand-ins/kubernetes/objects/json.js";
import { fieldsOf, leaves, merge } from "./field-sets.js";
import { statusOf } from "./statuses.js";
import type { Answer } from "./statuses.js";
import { isObject } from "../../../../../stand-ins/plugin/values.js";
import type { Json, JsonObject } from "../../../../../stand-ins/plugin/values.js";

/**
 * Returns the value in a request's body. The body is JSON, or YAML: Go's client sends YAML for a
 * server-side apply.
 */
export function bodyOf(text: string): Json {
  if (text === "") return {};
  return (/^[[{]/.test(text) ? JSON.parse(text) : parse(text)) as Json;
}

const owns = (entry: JsonObject, path: readonly string[]): boolean =>
  getValueAt(entry, "fieldsV1", ...path.map((key) => `f:${key}`)) !== undefined;

export const managed = (
  query: URLSearchParams,
  operation: string,
  object: JsonObject,
): JsonObject => ({
  manager: query.get("fieldManager") ?? "unknown",
  operation,
  apiVersion: getTextAt(object, "apiVersion"),
  fieldsType: "FieldsV1",
  fieldsV1: fieldsOf(object),
});

export function encodeSecret(object: JsonObject): void {
  if (object["kind"] !== "Secret") return;
  const texts = Object.entries(getMapAt(object, "stringData")).map(([key, value]) => [
    key,
    Buffer.from(value as string).toString("base64"),
  ]);
  delete object["stringData"];
  object["data"] = { ...getMapAt(object, "data"), ...Object.fromEntries(texts) } as JsonObject;
}

/** Checks the only validation rule that the transcripts contain. */
export function validate(object: JsonObject): Answer | undefined {
  if (object["kind"] !== "Deployment") return undefined;
  const labels = getMapAt(object, "spec", "template", "metadata", "labels");
  const selector = getMapAt(object, "spec", "selector", "matchLabels");
  if (Object.entries(selector).every(([key, value]) => labels[key] === value)) return undefined;
  const message =
    `Deployment.apps "${getTextAt(object, "metadata", "name")}" is invalid: spec.template.metadata.labels: ` +
    `Invalid value: ${JSON.stringify(labels)}: \`selector\` does not match template \`labels\``;
  return statusOf(422, "Invalid", message);
}

/**
 * Applies a JSON patch. Every operation sets a value, because the plugins send no other operations.
 * `steps` is null if the official plugin has nothing to change.
 */
export function jsonPatched(old: JsonObject, steps: readonly Json[] | null): JsonObject {
  const object = structuredClone(old);
  for (const step of (steps ?? []).filter(isObject)) {
    setAt(object, getTextAt(step, "path").split("/").slice(1), step["value"] ?? null);
  }
  return object;
}

/**
 * Performs a server-side apply. Returns the merged object, or the error answer if there is a
 * conflict.
 */
export function mergeApply(
  old: JsonObject,
  body: JsonObject,
  query: URLSearchParams,
): { object: JsonObject } | Answer {
  const manager = query.get("fieldManager") ?? "";
  const entries = getListAt(old, "metadata", "managedFields").filter(isObject);
  const others = entries.filter((entry) => entry["manager"] !== manager);
  for (const path of query.get("force") === "true" ? [] : leaves(fieldsOf(body))) {
    const owner = others.find((entry) => owns(entry, path));
    if (owner && !isEqual(getValueAt(old, ...path), getValueAt(body, ...path))) {
      const name = getTextAt(owner, "manager");
      const message = `Apply failed with 1 conflict: conflict with "${name}": .${path.join(".")}`;
      return statusOf(409, "Conflict", message);
    }
  }
  const object = structuredClone(merge(old, body));
  const own = entries.find((entry) => entry["manager"] === manager);
  for (const path of own ? leaves(getMapAt(own, "fieldsV1")) : []) {
    const kept =
      getValueAt(body, ...path) !== undefined || others.some((entry) => owns(entry, path));
    if (!kept) removeAt(object, path);
  }
  const metadata = getMapAt(object, "metadata");
  metadata["managedFields"] = [...others, managed(query, "Apply", body)];
  if (!isEqual(old["spec"], object["spec"])) {
    metadata["generation"] = Number(metadata["generation"] ?? 1) + 1;
  }
  return { object };
}
