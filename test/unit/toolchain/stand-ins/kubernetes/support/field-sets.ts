import { isObject } from "../../../../../../toolchain/stand-ins/plugin/values.js";
import type { JsonObject } from "../../../../../../toolchain/stand-ins/plugin/values.js";

/** Server-side apply in small: maps merge by key, lists and values are owned as a whole. */

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

/** The fields of an object as `fieldsV1` writes them: `{"f:spec": {"f:replicas": {}}}`. */
export function fieldsOf(object: JsonObject, at: string[] = []): JsonObject {
  const fields: JsonObject = {};
  for (const [key, value] of Object.entries(object)) {
    const path = [...at, key];
    if (notManaged.has(path.join("."))) continue;
    const inner = isObject(value) ? fieldsOf(value, path) : {};
    // A map of which nobody owns anything, like the metadata of a name.
    const nothing =
      isObject(value) && Object.keys(value).length > 0 && Object.keys(inner).length === 0;
    if (!nothing) fields[`f:${key}`] = inner;
  }
  return fields;
}

/** Leaves of a field set as paths. */
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
