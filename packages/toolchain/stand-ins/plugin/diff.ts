/**
 * Compares two sets of properties. Paths and kinds of changes are equal to those of the engine's
 * own diff.
 */
import { isObject, getSignature, signatures } from "./values.js";
import type { Json, JsonObject } from "./values.js";

export type ChangeKind = "ADD" | "DELETE" | "UPDATE";

/**
 * Map from a property path (`triggers[0]`, `environment.NAME`, `labels["a.b"]`) to the kind of
 * change.
 */
export type DetailedDiff = Map<string, ChangeKind>;

export function computeDetailedDiff(olds: JsonObject, news: JsonObject): DetailedDiff {
  const changes: DetailedDiff = new Map();
  compareObjects("", [olds, news], changes);
  return changes;
}

/** Returns the sorted names of the top-level properties that changed. */
export function listChangedProperties(diff: DetailedDiff): string[] {
  const names = [...diff.keys()].map((path) => /^(?:\["(.*?)"\]|[^.[]+)/.exec(path));
  return [...new Set(names.map((match) => match?.[1] ?? match?.[0] ?? ""))].sort();
}

/** Compares values like the engine: assets and archives by hash, everything else by value. */
export function isSameValue(old: Json, now: Json): boolean {
  if (Array.isArray(old) && Array.isArray(now)) {
    return old.length === now.length && old.every((value, i) => isSameValue(value, now[i] ?? null));
  }
  if (!isObject(old) || !isObject(now)) return old === now;
  const signature = getSignature(old);
  if (signature === signatures.asset || signature === signatures.archive) {
    return getSignature(now) === signature && old["hash"] === now["hash"];
  }
  const keys = new Set([...Object.keys(old), ...Object.keys(now)]);
  return [...keys].every((key) => {
    const [before, after] = [old[key], now[key]];
    return before !== undefined && after !== undefined && isSameValue(before, after);
  });
}

function compare(path: string, [old, now]: [Json, Json], changes: DetailedDiff): void {
  if (Array.isArray(old) && Array.isArray(now)) {
    compareLists(path, [old, now], changes);
  } else if (isPlainObject(old) && isPlainObject(now)) {
    compareObjects(path, [old, now], changes);
  } else if (!isSameValue(old, now)) {
    changes.set(path, old === null ? "ADD" : now === null ? "DELETE" : "UPDATE");
  }
}

function compareLists(path: string, [old, now]: [Json[], Json[]], changes: DetailedDiff): void {
  for (let index = 0; index < Math.max(old.length, now.length); index++) {
    const inner = `${path}[${index}]`;
    const [before, after] = [old[index], now[index]];
    if (before === undefined) changes.set(inner, "ADD");
    else if (after === undefined) changes.set(inner, "DELETE");
    else compare(inner, [before, after], changes);
  }
}

function compareObjects(
  path: string,
  [old, now]: [JsonObject, JsonObject],
  changes: DetailedDiff,
): void {
  for (const key of new Set([...Object.keys(old), ...Object.keys(now)])) {
    const inner = joined(path, key);
    const [before, after] = [old[key], now[key]];
    if (before === undefined) changes.set(inner, "ADD");
    else if (after === undefined) changes.set(inner, "DELETE");
    else compare(inner, [before, after], changes);
  }
}

/**
 * Reports whether a value is compared key by key. Secrets, assets and archives are compared as a
 * whole.
 */
function isPlainObject(value: Json): value is JsonObject {
  return isObject(value) && getSignature(value) === undefined;
}

function joined(path: string, key: string): string {
  if (/[.["]/.test(key) || key === "") return `${path}["${key.replaceAll('"', '\\"')}"]`;
  return path === "" ? key : `${path}.${key}`;
}
