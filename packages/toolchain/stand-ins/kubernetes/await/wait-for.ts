import { at } from "../objects/json.js";
import { annotationOf, annotations } from "../objects/object-fields.js";
import { info, type ReadinessCheck } from "./readiness.js";
import type { JsonObject } from "../../plugin/values.js";

/**
 * Pattern of the only expression of the official provider that is supported: the path of a field.
 */
const field = /^jsonpath=(\{((?:\.[A-Za-z][A-Za-z0-9]*)+)\})$/;

/**
 * Returns the condition in an object's annotation, which replaces the condition of its kind: a
 * field must exist. Returns undefined without the annotation. Throws for expressions that only the
 * official provider supports.
 */
export function askedReadiness(object: JsonObject): ReadinessCheck | undefined {
  const asked = annotationOf(object, annotations.waitFor);
  if (asked === "") return undefined;
  const [, shown, names] = field.exec(asked) ?? [];
  if (shown === undefined || names === undefined)
    throw new Error(
      `the stand-in does not know "${annotations.waitFor}: ${asked}", only jsonpath={.path.to.field}`,
    );
  const path = names.slice(1).split(".");
  return (live) => {
    const ready = at(live, ...path) !== undefined;
    const text = ready ? `Found ${shown}` : `${shown} selected nothing`;
    return { ready, messages: [info(text)], problems: [] };
  };
}
