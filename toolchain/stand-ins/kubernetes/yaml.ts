import { parseAllDocuments } from "yaml";
import { setAt } from "./json.js";
import { gvkOf } from "./kinds.js";
import { apiVersionOf, kindOf, namespaceOf } from "./object.js";
import { isObject } from "../plugin/values.js";
import type { JsonObject } from "../plugin/values.js";

/**
 * The objects of a YAML text, for ConfigFile and ConfigGroup (`kubernetes:yaml:decode`). Documents that are no
 * object are skipped. With a namespace, objects that belong in one and name none get it.
 */
export async function decodeYaml(
  text: string,
  namespace: string | undefined,
  isNamespaced: (gvk: ReturnType<typeof gvkOf>) => Promise<boolean>,
): Promise<JsonObject[]> {
  const objects: JsonObject[] = [];
  for (const document of parseAllDocuments(text, { version: "1.1" })) {
    const [error] = document.errors;
    if (error) throw new Error(`invalid YAML: ${error.message}`);
    const object: unknown = document.toJS();
    if (!isObject(object) || !apiVersionOf(object) || !kindOf(object)) continue;
    if (namespace && !namespaceOf(object) && (await isNamespaced(gvkOf(object)))) {
      setAt(object, ["metadata", "namespace"], namespace);
    }
    objects.push(object);
  }
  return objects;
}
