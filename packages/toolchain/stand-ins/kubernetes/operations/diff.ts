import { isEqual } from "../objects/json.js";
import { isEmpty, normalize, pruneToShape } from "../objects/normalize.js";
import { isQuantityAt, isSameQuantity } from "../objects/quantity.js";
import { parseCheckpoint } from "./checkpoint.js";
import {
  pulumiAnnotations,
  getApiVersion,
  isAnnotationTrue,
  getKind,
  getName,
  getNamespace,
} from "../objects/object-fields.js";
import { listReplacingFields, isFieldAffected } from "./replace-rules.js";
import type { ChangePath, FieldPath, Mutability } from "./replace-rules.js";
import { toKubernetesObject } from "../objects/wire.js";
import { isObject, isUnknown } from "../../plugin/values.js";
import type { Json, JsonObject } from "../../plugin/values.js";

export interface PropertyChange {
  readonly kind: "ADD" | "DELETE" | "UPDATE";
  readonly replaces: boolean;
}

export interface ResourceDiff {
  /** Changes by property path, in Pulumi's syntax. */
  readonly changes: ReadonlyMap<string, PropertyChange>;
  readonly replaces: readonly string[];
  readonly deleteBeforeReplace: boolean;
}

export interface DiffInput {
  /** State of the last write: the outputs, with the old inputs in `__inputs`. */
  readonly olds: JsonObject;
  /** Inputs that the gRPC method Check has completed. */
  readonly news: JsonObject;
  readonly ignoreChanges: readonly string[];
  readonly namespaced: boolean;
  readonly mutability: Mutability;
}

/**
 * Compares new inputs with the values that the server stored for the old inputs. So a refresh makes
 * changes by other clients visible. Fields that only the server adds are never part of the diff.
 */
export function diffResource(input: DiffInput): ResourceDiff {
  const { inputs: oldInputs, live } = parseCheckpoint(input.olds);
  const news = normalize(toKubernetesObject(input.news));
  const olds = comparable(live, normalize(oldInputs), news);
  for (const object of [olds, news]) setNamespace(object, input.namespaced);
  const fields = listReplacingFields(news, input.mutability);
  const changes = new Map<string, PropertyChange>();
  const place = { olds, news, before: normalize(oldInputs) };
  compare([], place, (path, kind, value) => {
    const replaces = fields.some((field: FieldPath) => isFieldAffected(field, path, value));
    changes.set(formatPath(path), { kind, replaces });
  });
  for (const ignored of input.ignoreChanges.map(parsePath)) {
    for (const path of changes.keys()) if (covers(ignored, parsePath(path))) changes.delete(path);
  }
  const replaces = [...changes]
    .filter(
      ([path, change]) => change.replaces || (path === "metadata" && change.kind === "DELETE"),
    )
    .map(([path]) => path)
    .sort();
  const sameIdentity =
    getName(news) === getName(live) &&
    getNamespace(news) === getNamespace(live) &&
    getName(news) !== "";
  return {
    changes,
    replaces,
    // The old and the new object cannot exist at once with the same name, so the old object is
    // deleted first.
    deleteBeforeReplace:
      replaces.length > 0 && sameIdentity && !isAnnotationTrue(news, pulumiAnnotations.autonamed),
  };
}

function comparable(live: JsonObject, oldInputs: JsonObject, news: JsonObject): JsonObject {
  const pruned = pruneToShape(live, oldInputs);
  pruned["apiVersion"] ??= getApiVersion(news);
  pruned["kind"] ??= getKind(news);
  const metadata = isObject(pruned["metadata"]) ? pruned["metadata"] : {};
  delete metadata["resourceVersion"];
  if (getName(news)) metadata["name"] = getName(live);
  pruned["metadata"] = metadata;
  return pruned;
}

function setNamespace(object: JsonObject, namespaced: boolean): void {
  const metadata = isObject(object["metadata"]) ? object["metadata"] : {};
  if (namespaced) metadata["namespace"] = getNamespace(object) || "default";
  else delete metadata["namespace"];
  object["metadata"] = metadata;
}

type Report = (path: ChangePath, kind: PropertyChange["kind"], value: Json | undefined) => void;

/**
 * Values at one path: on the server (`olds`), in the new inputs (`news`), and in the old inputs
 * (`before`).
 */
interface Place {
  readonly olds: Json | undefined;
  readonly news: Json | undefined;
  readonly before: Json | undefined;
}

const entries = (value: Json | undefined): JsonObject => (isObject(value) ? value : {});
const items = (value: Json | undefined): Json[] => (Array.isArray(value) ? value : []);

function compare(path: ChangePath, place: Place, report: Report): void {
  const { olds, news, before } = place;
  if (isObject(olds) && isObject(news)) {
    for (const key of new Set([...Object.keys(olds), ...Object.keys(news)])) {
      const inner = { olds: olds[key], news: news[key], before: entries(before)[key] };
      compare([...path, key], inner, report);
    }
  } else if (Array.isArray(olds) && Array.isArray(news)) {
    for (let i = 0; i < Math.max(olds.length, news.length); i++) {
      const inner = { olds: olds[i], news: news[i], before: items(before)[i] };
      compare([...path, i], inner, report);
    }
  } else {
    compareValues(path, place, report);
  }
}

const isThere = (value: Json | undefined): boolean => value !== undefined && value !== null;

function compareValues(path: ChangePath, { olds, news, before }: Place, report: Report): void {
  const [had, has] = [isThere(olds), isThere(news)];
  if (!has) {
    if (had) report(path, "DELETE", undefined);
  } else if (isUnknown(news)) {
    report(path, had ? "UPDATE" : "ADD", news);
  } else if (!had) {
    // Ignores an unchanged empty input (false, 0, empty list or map) that the server did not store.
    if (!isEmpty(news) || !isEqual(before, news)) report(path, "ADD", news);
  } else if (!(isQuantity(path) ? isSameQuantity(olds, news) : isEqual(olds, news))) {
    report(path, "UPDATE", news);
  }
}

const isQuantity = (path: ChangePath): boolean =>
  isQuantityAt(String(path.at(-2)), String(path.at(-1)));

/** Renders a path: `spec.ports[0].port`, `metadata.annotations["a.b/c"]`. */
export function formatPath(path: ChangePath): string {
  let text = "";
  for (const step of path) {
    if (typeof step === "number") text += `[${step}]`;
    else if (/[."[\]]/.test(step)) text += `["${step.replaceAll('"', '\\"')}"]`;
    else text += text ? `.${step}` : step;
  }
  return text;
}

/**
 * Parses paths in the form of {@link formatPath}. Also supports `[*]`, which ignoreChanges allows.
 */
export function parsePath(text: string): (string | number)[] {
  const step = /\.?([^.[\]"]+)|\["((?:[^"\\]|\\.)*)"\]|\[(\d+)\]|\[(\*)\]/gy;
  const path: (string | number)[] = [];
  for (const [, name, quoted, index, all] of text.matchAll(step)) {
    if (index !== undefined) path.push(Number(index));
    else path.push(name ?? quoted?.replaceAll('\\"', '"') ?? all ?? "");
  }
  return path;
}

const covers = (ignored: ChangePath, path: ChangePath): boolean =>
  ignored.length <= path.length && ignored.every((step, i) => step === "*" || step === path[i]);
