import { at } from "../json.js";
import { annotationOf, annotations } from "../object.js";
import { info, type Readiness } from "./readiness.js";
import type { JsonObject } from "../../plugin/values.js";

/** Of the official provider's expressions the plain one: a field, by the names on the way to it. */
const field = /^jsonpath=(\{((?:\.[A-Za-z][A-Za-z0-9]*)+)\})$/;

/**
 * What an object asks to be waited for instead of what is usual for its kind: ready when that field is there. Undefined where it
 * asks for nothing; throws for what only the official provider knows.
 */
export function askedReadiness(object: JsonObject): Readiness | undefined {
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
