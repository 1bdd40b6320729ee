import { getListAt, getMapAt, removeAt, getTextAt, getTextMapAt } from "./json.js";
import { getGvk, isBuiltIn, isCrd, isSecretKind } from "./kinds.js";
import { normalizeQuantity, isQuantityAt } from "./quantity.js";
import { hasUnknown, isObject } from "../../plugin/values.js";
import type { Json, JsonObject } from "../../plugin/values.js";

const readOnlyMetadata = [
  "creationTimestamp",
  "deletionGracePeriodSeconds",
  "deletionTimestamp",
  "generation",
  "managedFields",
  "resourceVersion",
  "uid",
];

/**
 * Normalizes inputs for the state and for comparisons, so that different notations of one object
 * are equal. Removes fields that only the server writes. If all values are known, converts the
 * stringData of a Secret to data. In other built-in kinds, writes quantities in their usual units,
 * and removes empty maps of strings and empty lists.
 *
 * The official provider converts built-in kinds to Go structs. This conversion drops some keys if
 * their values are empty. This file lists these keys. The diff ignores other empty values.
 */
export function normalize(inputs: JsonObject): JsonObject {
  const object = structuredClone(inputs);
  if (!hasUnknown(object)) {
    if (isCrd(object)) normalizeCrd(object);
    else if (isSecretKind(object)) normalizeSecret(object);
    else if (isBuiltIn(getGvk(object))) tidy(object);
  }
  for (const key of readOnlyMetadata) removeAt(object, ["metadata", key]);
  return object;
}

function normalizeCrd(object: JsonObject): void {
  if (getMapAt(object, "spec")["preserveUnknownFields"] === false) {
    removeAt(object, ["spec", "preserveUnknownFields"]);
  }
  delete object["status"];
}

function normalizeSecret(object: JsonObject): void {
  const data: JsonObject = { ...getMapAt(object, "data") };
  const texts = Object.entries(getTextMapAt(object, "stringData"));
  if (texts.length > 0) {
    for (const [key, value] of texts) data[key] = Buffer.from(value).toString("base64");
    delete object["stringData"];
  } else {
    for (const [key, value] of Object.entries(data)) {
      if (typeof value === "string") data[key] = Buffer.from(value, "base64").toString("base64");
    }
  }
  if (Object.keys(data).length > 0) object["data"] = data;
}

/**
 * Maps of strings. The stand-in removes such a map if it is empty, because the Kubernetes API
 * declares all of them as `omitempty`. The stand-in keeps other empty maps, because they may have a
 * meaning.
 */
const maps = new Set([
  "data",
  "binaryData",
  "labels",
  "annotations",
  "nodeSelector",
  "matchLabels",
  "parameters",
]);
/** Lists that Kubernetes writes even when they are empty. */
const keptLists = new Set(["rules", "containers", "versions"]);
/**
 * Booleans that Kubernetes omits when they are false. For most other booleans, false and unset have
 * different meanings.
 */
const flags = new Set([
  "hostIPC",
  "hostNetwork",
  "hostPID",
  "paused",
  "publishNotReadyAddresses",
  "readOnly",
  "stdin",
  "stdinOnce",
  "tty",
]);

const isDropped = (key: string, value: Json): boolean => {
  if (value === null) return true;
  if (Array.isArray(value)) return value.length === 0 && !keptLists.has(key);
  if (isObject(value)) return Object.keys(value).length === 0 && maps.has(key);
  return (value === false && flags.has(key)) || (value === "" && key === "value");
};

function tidy(value: Json, parent = ""): void {
  if (Array.isArray(value)) {
    value.forEach((item) => {
      tidy(item);
    });
    return;
  }
  if (!isObject(value)) return;
  for (const [key, item] of Object.entries(value)) {
    if (maps.has(key) && isObject(item) && Object.keys(item).length > 0) continue;
    if (isDropped(key, item)) Reflect.deleteProperty(value, key);
    else if (isQuantityAt(parent, key)) value[key] = normalizeQuantity(item);
    else tidy(item, key);
  }
}

/**
 * Reports whether the server treats a value like a missing value: false, 0, "", or an empty list or
 * map.
 */
export function isEmpty(value: Json | undefined): boolean {
  if (Array.isArray(value)) return value.length === 0;
  if (isObject(value)) return Object.values(value).every(isEmpty);
  return value === undefined || value === null || value === false || value === 0 || value === "";
}

/**
 * Returns the part of a live object whose fields the inputs set. A diff compares this part with new
 * inputs.
 */
export function pruneToShape(live: JsonObject, shape: JsonObject): JsonObject {
  const result: JsonObject = {};
  for (const [key, value] of Object.entries(live)) {
    const wanted = shape[key];
    if (wanted !== undefined) result[key] = pruneValue(value, wanted);
  }
  return result;
}

function pruneValue(value: Json, shape: Json): Json {
  if (isObject(value) && isObject(shape)) return pruneToShape(value, shape);
  if (!Array.isArray(value) || !Array.isArray(shape)) return value;
  if (typeof value[0] !== typeof shape[0]) return shape.length === 0 ? [] : value;
  return shape.slice(0, value.length).map((wanted, i) => pruneValue(value[i] ?? null, wanted));
}

/** Returns the labels with which a workload selects its pods. */
export const getPodSelector = (object: JsonObject): Record<string, string> =>
  getTextMapAt(object, "spec", "selector", "matchLabels");

/** Returns the names of the claims that a pod template mounts. */
export const listMountedClaims = (object: JsonObject): string[] =>
  getListAt(object, "spec", "template", "spec", "volumes")
    .map((volume) => getTextAt(volume, "persistentVolumeClaim", "claimName"))
    .filter(Boolean);
