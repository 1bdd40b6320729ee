import { getValueAt, getMapAt, setAt, getTextAt } from "./json.js";
import { isObject } from "../../plugin/values.js";
import type { JsonObject } from "../../plugin/values.js";

/** Functions that read the fields which every Kubernetes object has. An object is plain JSON. */
export const getName = (object: JsonObject): string => getTextAt(object, "metadata", "name");
export const getNamespace = (object: JsonObject): string =>
  getTextAt(object, "metadata", "namespace");
export const getKind = (object: JsonObject): string => getTextAt(object, "kind");
export const getUid = (object: JsonObject): string => getTextAt(object, "metadata", "uid");
export const getAnnotation = (object: JsonObject, name: string): string =>
  getTextAt(object, "metadata", "annotations", name);

/** Returns the API version. For the core group, returns `v1` even if the object has `core/v1`. */
export const getApiVersion = (object: JsonObject): string =>
  getTextAt(object, "apiVersion").replace(/^core\//, "");

/** Returns the resource's ID: `namespace/name`, or only the name for cluster-scoped objects. */
export const formatId = (object: JsonObject): string =>
  [getNamespace(object), getName(object)].filter(Boolean).join("/");

/** Returns the name of the object for messages. Leaves out the namespace `default`. */
export function getDisplayName(object: JsonObject): string {
  const namespace = getNamespace(object);
  return namespace && namespace !== "default" ? `${namespace}/${getName(object)}` : getName(object);
}

export function parseId(id: string): { namespace: string; name: string } {
  const [first = "", second] = id.split("/");
  return second === undefined ? { namespace: "", name: first } : { namespace: first, name: second };
}

export const pulumiAnnotations = {
  autonamed: "pulumi.com/autonamed",
  skipAwait: "pulumi.com/skipAwait",
  waitFor: "pulumi.com/waitFor",
  patchForce: "pulumi.com/patchForce",
  fieldManager: "pulumi.com/patchFieldManager",
  timeoutSeconds: "pulumi.com/timeoutSeconds",
  deletionPropagation: "pulumi.com/deletionPropagationPolicy",
} as const;

export const isAnnotationTrue = (object: JsonObject, annotation: string): boolean =>
  getAnnotation(object, annotation) === "true";

export function annotate(object: JsonObject, annotation: string, value: string): void {
  setAt(object, ["metadata", "annotations", annotation], value);
}

export const isOwnedBy = (object: JsonObject, owner: JsonObject): boolean => {
  const references = getValueAt(object, "metadata", "ownerReferences");
  return (
    Array.isArray(references) &&
    references.some((reference) => isObject(reference) && reference["uid"] === getUid(owner))
  );
};

/** Returns the status condition of a type: its status, reason and message. */
export function findCondition(
  object: JsonObject,
  type: string,
): { status: string; reason: string; message: string } | undefined {
  const conditions = getValueAt(object, "status", "conditions");
  if (!Array.isArray(conditions)) return undefined;
  const found = conditions.find((condition) => getTextAt(condition, "type") === type);
  return found === undefined
    ? undefined
    : {
        status: getTextAt(found, "status"),
        reason: getTextAt(found, "reason"),
        message: getTextAt(found, "message"),
      };
}

/** Reports whether the controller has processed the newest specification. */
export const isObserved = (object: JsonObject): boolean =>
  getMapAt(object, "status")["observedGeneration"] === getMapAt(object, "metadata")["generation"];
