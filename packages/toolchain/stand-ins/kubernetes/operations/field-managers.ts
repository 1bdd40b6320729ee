import { getValueAt, getListAt, setAt, getTextAt } from "../objects/json.js";
import { isObject } from "../../plugin/values.js";
import type { Json, JsonObject } from "../../plugin/values.js";

/**
 * Field manager that creates objects. The first update moves the fields of this manager to the
 * resource's own manager.
 */
export const creatingManager = "pulumi-kubernetes";

/**
 * Field managers whose fields an update moves to the resource's own manager: the managers of
 * earlier creates, and kubectl.
 */
const takenOver = new Map([
  [creatingManager, ["Update"]],
  ["pulumi-resource-kubernetes", ["Update"]],
  ["before-first-apply", ["Update"]],
  ["kubectl", ["Update", "Apply"]],
]);

function merge(a: JsonObject, b: JsonObject): JsonObject {
  const result = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const mine = result[key];
    result[key] = isObject(mine) && isObject(value) ? merge(mine, value) : value;
  }
  return result;
}

/**
 * Returns a JSON patch of managedFields that moves the fields of the managers in `takenOver` to
 * `manager`. Without the patch, server-side apply would keep fields that the new inputs do not
 * contain. Returns undefined if the object has no such managers.
 */
export function createTakeOverPatch(live: JsonObject, manager: string): JsonObject[] | undefined {
  const entries = getListAt(live, "metadata", "managedFields").filter(isObject);
  const isTaken = (entry: JsonObject) =>
    !getTextAt(entry, "subresource") &&
    takenOver.get(getTextAt(entry, "manager"))?.includes(getTextAt(entry, "operation")) === true;
  const isOwn = (entry: JsonObject) =>
    entry["manager"] === manager && entry["operation"] === "Apply" && !entry["subresource"];
  const taken = entries.filter(isTaken);
  const [first] = taken;
  if (first === undefined) return undefined;
  const fields = [...entries.filter(isOwn), ...taken]
    .map((entry) => entry["fieldsV1"])
    .filter(isObject)
    .reduce(merge, {});
  const own = { ...first, manager, operation: "Apply", fieldsV1: fields };
  const rest = entries.filter((entry) => !isTaken(entry) && !isOwn(entry));
  return [
    { op: "replace", path: "/metadata/managedFields", value: [...rest, own] },
    {
      op: "replace",
      path: "/metadata/resourceVersion",
      value: getTextAt(live, "metadata", "resourceVersion"),
    },
  ];
}

/**
 * Changes the inputs so that an update keeps the value of a field in ignoreChanges. If only other
 * managers have set the field, removes the field from the inputs to avoid a conflict. Otherwise,
 * sets the field to the live value, so that the update does not unset it.
 */
export function keepIgnored(
  inputs: JsonObject,
  live: JsonObject,
  path: readonly string[],
  manager: string,
): void {
  const owners = getListAt(live, "metadata", "managedFields").filter(
    (entry) => getValueAt(entry, "fieldsV1", ...path.map((key) => `f:${key}`)) !== undefined,
  );
  const mine = owners.some((entry) => getTextAt(entry, "manager") === manager);
  const current: Json | undefined = getValueAt(live, ...path);
  if (owners.length > 0 && !mine) {
    const parent = getValueAt(inputs, ...path.slice(0, -1));
    if (isObject(parent)) Reflect.deleteProperty(parent, path.at(-1) ?? "");
  } else if (current !== undefined) {
    setAt(inputs, path, current);
  }
}
