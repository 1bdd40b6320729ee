import { isObject } from "../../../../../stand-ins/plugin/values.js";
import type { JsonObject } from "../../../../../stand-ins/plugin/values.js";

/**
 * Implements a simplified server-side apply. Maps are merged key by key. Each list and each plain
 * value has only one owner.
 */

const notManaged = new Set([
  "apiVersion",
  "kind",
  "metadata.name",
  "metadata.namespace",
  "metadata.uid",
  "metadata.resourceVersion",
  "metadata.generation",
  "metadata.creationTimestamp",
  "metadata.managedFields",
]);

/** Returns the fields of an object in the format `fieldsV1`: `{"f:spec": {"f:replicas": {}}}`. */
export function fieldsOf(object: JsonObject, at: string[] = []): JsonObject {
  const fields: JsonObject = {};
  for (const [key, value] of Object.entries(object)) {
    const path = [...at, key];
    if (notManaged.has(path.join("."))) continue;
    const inner = isObject(value) ? fieldsOf(value, path) : {};
    // A map that contains no owned fields is left out, for example metadata with only a name.
    const nothing =
      isObject(value) && Object.keys(value).length > 0 && Object.keys(inner).length === 0;
    if (!nothing) fields[`f:${key}`] = inner;
  }
  return fields;
}

/** Returns the paths of the leaves of a field set. */
export function leaves(fields: JsonObject, at: string[] = []): string[][] {
  return Object.entries(fields).flatMap(([key, value]) => {
    const path = [...at, key.slice(2)];
    return isObject(value) && Object.keys(value).length > 0 ? leaves(value, path) : [path];
  });
}

export function merge(target: JsonObject, change: JsonObject): JsonObject {
  const result = { ...target };
  for (const [key, value] of Object.entries(change)) {
    const old = result[key];
    result[key] = isObject(old) && isObject(value) ? merge(old, value) : value;
  }
  return result;
}
