/** Reads the objects of a Kubernetes manifest of the user (pure functions). */
import { parseAllDocuments, type Tags } from "yaml";

/** Kubernetes object of any kind. */
export interface ManifestDocument {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
  readonly [field: string]: unknown;
}

/** Objects of a manifest, or everything that is wrong with it. */
export type ManifestDocuments =
  | { readonly objects: readonly ManifestDocument[] }
  | { readonly problems: readonly [string, ...string[]] };

/**
 * Removes the tags of times and dates from YAML 1.1. `kubectl` reads YAML 1.1, where `0644` is an
 * octal number and `yes` is a boolean, but it reads `12:30` and `2026-01-31` as texts.
 */
const withoutTimes = (tags: Tags): Tags =>
  tags.filter(
    (tag) =>
      typeof tag === "string" ||
      !((tag as { format?: string }).format === "TIME" || tag.tag.endsWith(":timestamp")),
  );

/** Returns the objects of a manifest as `kubectl` reads them. A List becomes its objects. */
export function readManifestDocuments(text: string): ManifestDocuments {
  const documents = parseAllDocuments(text, { version: "1.1", customTags: withoutTimes });
  const read = documents.map((document, index) => {
    const [error] = document.errors;
    const where = `document ${String(index + 1)}`;
    if (error !== undefined)
      return [{ problem: `${where} is not YAML: ${error.message.split("\n")[0] ?? ""}` }];
    return readDocument(document.toJS(), where);
  });
  const entries = read.flat();
  const [first, ...more] = entries.flatMap((one) => ("problem" in one ? [one.problem] : []));
  if (first !== undefined) return { problems: [first, ...more] };
  const objects = entries.flatMap((one) => ("object" in one ? [one.object] : []));
  return objects.length > 0
    ? { objects }
    : { problems: ["it holds no object; write at least one Kubernetes object"] };
}

type Entry = { readonly object: ManifestDocument } | { readonly problem: string };

function readDocument(value: unknown, where: string): readonly Entry[] {
  if (value === null || value === undefined) return [];
  const { apiVersion, kind, items, metadata } = fieldsOf(value);
  if (!isText(apiVersion) || !isText(kind))
    return [{ problem: `${where} has no apiVersion or no kind; write a Kubernetes object` }];
  if (kind.endsWith("List") && Array.isArray(items))
    return items.flatMap((item, index) =>
      readDocument(item, `${where}, item ${String(index + 1)}`),
    );
  const { name, namespace } = fieldsOf(metadata);
  if (!isText(name))
    return [{ problem: `${where} (${kind}) has no metadata.name; write a fixed name` }];
  if (namespace !== undefined && !isText(namespace))
    return [{ problem: `${where} (${kind} ${name}) has a metadata.namespace that is no text` }];
  return [{ object: value as ManifestDocument }];
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null ? { ...value } : {};

/** Returns the text that identifies an object in the cluster: kind, namespace and name. */
export const describeDocument = ({ kind, metadata }: ManifestDocument): string =>
  `${kind} ${metadata.namespace === undefined ? "" : `${metadata.namespace}/`}${metadata.name}`;

/** Returns the API group of an object. The core group is the empty text. */
export const getGroup = ({ apiVersion }: Pick<ManifestDocument, "apiVersion">): string =>
  apiVersion.includes("/") ? (apiVersion.split("/")[0] ?? "") : "";

/**
 * Groups of objects in the order in which the program creates them:
 * - `scopes`: namespaces and custom resource definitions, without which the API refuses others
 * - `settings`: objects that only say something, and that pods need before they start
 * - `workloads`: all other objects
 * - `custom`: objects of the custom resources that the same manifest defines. Their controller and
 *   its webhooks run first, and delete what belongs to such an object
 */
export const documentStages = ["scopes", "settings", "workloads", "custom"] as const;
export type DocumentStage = (typeof documentStages)[number];

const scopeKinds = ["Namespace", "CustomResourceDefinition"];
const settingKinds = [
  ...["ServiceAccount", "ConfigMap", "Secret", "ClusterRole", "ClusterRoleBinding", "Role"],
  ...["RoleBinding", "PriorityClass", "StorageClass", "IngressClass", "RuntimeClass"],
  ...["NetworkPolicy", "PodDisruptionBudget", "LimitRange", "ResourceQuota"],
];
/** API groups of `settingKinds` and `scopeKinds`. A custom resource may have one of these kinds. */
const builtInGroup = /^$|^(policy|[a-z.]+\.k8s\.io)$/;

/** Returns the objects of a manifest by stage. */
export function divideIntoStages(
  objects: readonly ManifestDocument[],
): Readonly<Record<DocumentStage, readonly ManifestDocument[]>> {
  const defined = new Set(objects.flatMap(definedKindOf));
  const stageOf = (object: ManifestDocument): DocumentStage => {
    const { kind } = object;
    if (defined.has(`${getGroup(object)} ${kind}`)) return "custom";
    if (!builtInGroup.test(getGroup(object))) return "workloads";
    if (scopeKinds.includes(kind)) return "scopes";
    return settingKinds.includes(kind) ? "settings" : "workloads";
  };
  const of = (stage: DocumentStage) => objects.filter((object) => stageOf(object) === stage);
  return {
    scopes: of("scopes"),
    settings: of("settings"),
    workloads: of("workloads"),
    custom: of("custom"),
  };
}

function definedKindOf({ kind, spec }: ManifestDocument): readonly string[] {
  if (kind !== "CustomResourceDefinition") return [];
  const { group, names } = fieldsOf(spec);
  const { kind: defined } = fieldsOf(names);
  return isText(group) && isText(defined) ? [`${group} ${defined}`] : [];
}
