import { isMap } from "../../../../../toolchain/kubernetes/json.js";
import type { JsonMap } from "../../../../../toolchain/kubernetes/json.js";

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
export function fieldsOf(object: JsonMap, at: string[] = []): JsonMap {
  const fields: JsonMap = {};
  for (const [key, value] of Object.entries(object)) {
    const path = [...at, key];
    if (notManaged.has(path.join("."))) continue;
    const inner = isMap(value) ? fieldsOf(value, path) : {};
    // A map of which nobody owns anything, like the metadata of a name.
    const nothing =
      isMap(value) && Object.keys(value).length > 0 && Object.keys(inner).length === 0;
    if (!nothing) fields[`f:${key}`] = inner;
  }
  return fields;
}

/** Leaves of a field set as paths. */
export function leaves(fields: JsonMap, at: string[] = []): string[][] {
  return Object.entries(fields).flatMap(([key, value]) => {
    const path = [...at, key.slice(2)];
    return isMap(value) && Object.keys(value).length > 0 ? leaves(value, path) : [path];
  });
}

export function merge(target: JsonMap, change: JsonMap): JsonMap {
  const result = { ...target };
  for (const [key, value] of Object.entries(change)) {
    const old = result[key];
    result[key] = isMap(old) && isMap(value) ? merge(old, value) : value;
  }
  return result;
}
