import { getValueAt } from "../objects/json.js";
import { getAnnotation, pulumiAnnotations } from "../objects/object-fields.js";
import { createInfoMessage, type ReadinessCheck } from "./readiness.js";
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
export function parseWaitForReadiness(object: JsonObject): ReadinessCheck | undefined {
  const asked = getAnnotation(object, pulumiAnnotations.waitFor);
  if (asked === "") return undefined;
  const [, shown, names] = field.exec(asked) ?? [];
  if (shown === undefined || names === undefined)
    throw new Error(
      `the stand-in does not know "${pulumiAnnotations.waitFor}: ${asked}", only jsonpath={.path.to.field}`,
    );
  const path = names.slice(1).split(".");
  return (live) => {
    const ready = getValueAt(live, ...path) !== undefined;
    const text = ready ? `Found ${shown}` : `${shown} selected nothing`;
    return { ready, messages: [createInfoMessage(text)], problems: [] };
  };
}
