import { at, mapAt, setAt, textAt } from "./json.js";
import { isObject } from "../../plugin/values.js";
import type { JsonObject } from "../../plugin/values.js";

/** Read the fields that every Kubernetes object has. An object is plain JSON without a wrapper. */
export const nameOf = (object: JsonObject): string => textAt(object, "metadata", "name");
export const namespaceOf = (object: JsonObject): string => textAt(object, "metadata", "namespace");
export const kindOf = (object: JsonObject): string => textAt(object, "kind");
export const uidOf = (object: JsonObject): string => textAt(object, "metadata", "uid");
export const annotationOf = (object: JsonObject, name: string): string =>
  textAt(object, "metadata", "annotations", name);

/** Returns the API version. The core group has `v1`, even if it is written `core/v1`. */
export const apiVersionOf = (object: JsonObject): string =>
  textAt(object, "apiVersion").replace(/^core\//, "");

/** Returns the resource's ID: `namespace/name`, or only the name for cluster-scoped objects. */
export const idOf = (object: JsonObject): string =>
  [namespaceOf(object), nameOf(object)].filter(Boolean).join("/");

/** Returns the name for messages, without the namespace `default`. */
export function displayName(object: JsonObject): string {
  const namespace = namespaceOf(object);
  return namespace && namespace !== "default" ? `${namespace}/${nameOf(object)}` : nameOf(object);
}

export function parseId(id: string): { namespace: string; name: string } {
  const [first = "", second] = id.split("/");
  return second === undefined ? { namespace: "", name: first } : { namespace: first, name: second };
}

export const annotations = {
  autonamed: "pulumi.com/autonamed",
  skipAwait: "pulumi.com/skipAwait",
  waitFor: "pulumi.com/waitFor",
  patchForce: "pulumi.com/patchForce",
  fieldManager: "pulumi.com/patchFieldManager",
  timeoutSeconds: "pulumi.com/timeoutSeconds",
  deletionPropagation: "pulumi.com/deletionPropagationPolicy",
} as const;

export const isTrue = (object: JsonObject, annotation: string): boolean =>
  annotationOf(object, annotation) === "true";

export function annotate(object: JsonObject, annotation: string, value: string): void {
  setAt(object, ["metadata", "annotations", annotation], value);
}

export const isOwnedBy = (object: JsonObject, owner: JsonObject): boolean => {
  const references = at(object, "metadata", "ownerReferences");
  return (
    Array.isArray(references) &&
    references.some((reference) => isObject(reference) && reference["uid"] === uidOf(owner))
  );
};

/** Returns the status condition of a type: its status, reason and message. */
export function conditionOf(
  object: JsonObject,
  type: string,
): { status: string; reason: string; message: string } | undefined {
  const conditions = at(object, "status", "conditions");
  if (!Array.isArray(conditions)) return undefined;
  const found = conditions.find((condition) => textAt(condition, "type") === type);
  return found === undefined
    ? undefined
    : {
        status: textAt(found, "status"),
        reason: textAt(found, "reason"),
        message: textAt(found, "message"),
      };
}

/** Reports whether the controller has processed the newest specification. */
export const isObserved = (object: JsonObject): boolean =>
  mapAt(object, "status")["observedGeneration"] === mapAt(object, "metadata")["generation"];
