import { at, isMap, listAt, setAt, textAt } from "./json.js";
import type { Json, JsonMap } from "./json.js";

/** The manager under which objects are created; the first update hands its fields to the resource's own manager. */
export const creatingManager = "pulumi-kubernetes";

/** Managers whose fields an update takes over: earlier creates, and kubectl. */
const takenOver = new Map([
  [creatingManager, ["Update"]],
  ["pulumi-resource-kubernetes", ["Update"]],
  ["before-first-apply", ["Update"]],
  ["kubectl", ["Update", "Apply"]],
]);

function merge(a: JsonMap, b: JsonMap): JsonMap {
  const result = { ...a };
  for (const [key, value] of Object.entries(b)) {
    const mine = result[key];
    result[key] = isMap(mine) && isMap(value) ? merge(mine, value) : value;
  }
  return result;
}

/**
 * A JSON patch of managedFields after which `manager` has applied what the create and kubectl had written. Without
 * it, server-side apply would keep every field that the new inputs no longer have. Undefined: nothing to hand over.
 */
export function takeOverPatch(live: JsonMap, manager: string): JsonMap[] | undefined {
  const entries = listAt(live, "metadata", "managedFields").filter(isMap);
  const isTaken = (entry: JsonMap) =>
    !textAt(entry, "subresource") &&
    takenOver.get(textAt(entry, "manager"))?.includes(textAt(entry, "operation")) === true;
  const isOwn = (entry: JsonMap) =>
    entry["manager"] === manager && entry["operation"] === "Apply" && !entry["subresource"];
  const taken = entries.filter(isTaken);
  const [first] = taken;
  if (first === undefined) return undefined;
  const fields = [...entries.filter(isOwn), ...taken]
    .map((entry) => entry["fieldsV1"])
    .filter(isMap)
    .reduce(merge, {});
  const own = { ...first, manager, operation: "Apply", fieldsV1: fields };
  const rest = entries.filter((entry) => !isTaken(entry) && !isOwn(entry));
  return [
    { op: "replace", path: "/metadata/managedFields", value: [...rest, own] },
    {
      op: "replace",
      path: "/metadata/resourceVersion",
      value: textAt(live, "metadata", "resourceVersion"),
    },
  ];
}

/**
 * Keeps ignored fields as they are: one that another manager alone has set leaves the inputs, so that nothing
 * conflicts; any other gets the live value, so that nothing is unset.
 */
export function keepIgnored(
  inputs: JsonMap,
  live: JsonMap,
  path: readonly string[],
  manager: string,
): void {
  const owners = listAt(live, "metadata", "managedFields").filter(
    (entry) => at(entry, "fieldsV1", ...path.map((key) => `f:${key}`)) !== undefined,
  );
  const mine = owners.some((entry) => textAt(entry, "manager") === manager);
  const current: Json | undefined = at(live, ...path);
  if (owners.length > 0 && !mine) {
    const parent = at(inputs, ...path.slice(0, -1));
    if (isMap(parent)) Reflect.deleteProperty(parent, path.at(-1) ?? "");
  } else if (current !== undefined) {
    setAt(inputs, path, current);
  }
}
