import { parseAllDocuments } from "yaml";
import { setAt } from "./json.js";
import { getGvk } from "./kinds.js";
import { getApiVersion, getKind, getNamespace } from "./object-fields.js";
import { isObject } from "../../plugin/values.js";
import type { JsonObject } from "../../plugin/values.js";

/**
 * Returns the objects of a YAML text, for ConfigFile and ConfigGroup (`kubernetes:yaml:decode`).
 * Skips documents that are not objects. Adds the given namespace to namespaced objects without a
 * namespace.
 */
export async function decodeYaml(
  text: string,
  namespace: string | undefined,
  isNamespaced: (gvk: ReturnType<typeof getGvk>) => Promise<boolean>,
): Promise<JsonObject[]> {
  const objects: JsonObject[] = [];
  for (const document of parseAllDocuments(text, { version: "1.1" })) {
    const [error] = document.errors;
    if (error) throw new Error(`invalid YAML: ${error.message}`);
    const object: unknown = document.toJS();
    if (!isObject(object) || !getApiVersion(object) || !getKind(object)) continue;
    if (namespace && !getNamespace(object) && (await isNamespaced(getGvk(object)))) {
      setAt(object, ["metadata", "namespace"], namespace);
    }
    objects.push(object);
  }
  return objects;
}
