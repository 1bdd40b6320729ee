/** Reads and changes plain JSON. The stand-in stores Kubernetes objects as plain JSON. */
import { isObject } from "../../plugin/values.js";
import type { Json, JsonObject } from "../../plugin/values.js";

/** Returns the map at a path, or an empty map if it is missing. */
export function getMapAt(value: Json | undefined, ...path: string[]): JsonObject {
  const found = getValueAt(value, ...path);
  return isObject(found) ? found : {};
}

export function getListAt(value: Json | undefined, ...path: string[]): Json[] {
  const found = getValueAt(value, ...path);
  return Array.isArray(found) ? found : [];
}

export function getTextAt(value: Json | undefined, ...path: string[]): string {
  const found = getValueAt(value, ...path);
  return typeof found === "string" ? found : "";
}

/** Returns a map of strings, such as labels. Leaves out values of other types. */
export function getTextMapAt(value: Json | undefined, ...path: string[]): Record<string, string> {
  const texts: Record<string, string> = {};
  for (const [key, item] of Object.entries(getMapAt(value, ...path))) {
    if (typeof item === "string") texts[key] = item;
  }
  return texts;
}

export function getNumberAt(value: Json | undefined, ...path: string[]): number | undefined {
  const found = getValueAt(value, ...path);
  return typeof found === "number" ? found : undefined;
}

/** Returns the value at a path of keys, or `undefined` if a step is missing. */
export function getValueAt(value: Json | undefined, ...path: string[]): Json | undefined {
  let current: Json | undefined = value;
  for (const key of path) {
    if (!isObject(current)) return undefined;
    current = current[key];
  }
  return current;
}

/** Sets the value at a path and creates missing maps. */
export function setAt(target: JsonObject, path: readonly string[], value: Json): void {
  const last = path.at(-1);
  if (last === undefined) return;
  let current = target;
  for (const key of path.slice(0, -1)) {
    const next = current[key];
    if (isObject(next)) current = next;
    else current = current[key] = {};
  }
  current[last] = value;
}

export function removeAt(target: JsonObject, path: readonly string[]): void {
  const last = path.at(-1);
  const parent = getValueAt(target, ...path.slice(0, -1));
  if (last !== undefined && isObject(parent)) Reflect.deleteProperty(parent, last);
}

/** Returns a copy without some of its keys. */
export const omitKeys = (map: JsonObject, ...keys: string[]): JsonObject =>
  Object.fromEntries(Object.entries(map).filter(([key]) => !keys.includes(key)));

/** Compares JSON values. The order of keys does not matter. */
export function isEqual(a: Json | undefined, b: Json | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, i) => isEqual(item, b[i]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length &&
    keys.every((key) => Object.hasOwn(b, key) && isEqual(a[key], b[key]))
  );
}

/**
 * Returns a copy in which `change` has replaced every map entry and list item. Calls `change` for
 * inner values before outer values.
 */
export function rewrite(
  value: Json,
  change: (value: Json) => Json,
  rename = (key: string) => key,
): Json {
  if (Array.isArray(value)) return change(value.map((item) => rewrite(item, change, rename)));
  if (!isObject(value)) return change(value);
  return change(
    Object.fromEntries(
      Object.entries(value).map(([key, item]) => [rename(key), rewrite(item, change, rename)]),
    ),
  );
}
