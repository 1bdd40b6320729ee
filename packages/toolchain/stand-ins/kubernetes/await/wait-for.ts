import { getValueAt } from "../objects/json.js";
import { getAnnotation, pulumiAnnotations } from "../objects/object-fields.js";
import { createInfoMessage, type ReadinessCheck } from "./readiness.js";
import type { JsonObject } from "../../plugin/values.js";

/**
 * Pattern of a `jsonpath` expression that contains only the path of a field. The official provider
 * supports more expressions, the stand-in only this one.
 */
const field = /^jsonpath=(\{((?:\.[A-Za-z][A-Za-z0-9]*)+)\})$/;

/**
 * Returns the readiness check that an object's annotation `waitFor` defines: the given field must
 * exist. This check replaces the check of the object's kind. Returns undefined without the
 * annotation. Throws for expressions that only the official provider supports.
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
