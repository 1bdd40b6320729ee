/** Reads a published manifest and changes what is in it: objects in, objects out (pure). */
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import { manifestImage, type ImageRegistry, type OwnImages } from "../../base/images.js";
import type { Late } from "../support/kubernetes-types.js";

const objectSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});
/** An object of a manifest. Values that are known only later are Pulumi's inputs. */
export type ManifestObject = z.output<typeof objectSchema>;

const containerSchema = z.looseObject({
  name: z.string(),
  image: z.string(),
  env: z.array(z.looseObject({ name: z.string() })).optional(),
});
export type ManifestContainer = z.output<typeof containerSchema>;

const workloadSchema = objectSchema.extend({
  spec: z.looseObject({
    template: z.looseObject({
      metadata: z.looseObject({ annotations: z.record(z.string(), z.unknown()).optional() }),
      spec: z.looseObject({
        initContainers: z.array(containerSchema).optional(),
        containers: z.array(containerSchema),
      }),
    }),
  }),
});
type Workload = z.output<typeof workloadSchema>;

/** What manifests of pod networks hold, by `apiVersion kind`. */
export const manifestTypes = [
  ...(["v1 Namespace", "v1 ServiceAccount", "v1 ConfigMap", "v1 Secret", "v1 Service"] as const),
  "rbac.authorization.k8s.io/v1 ClusterRole",
  "rbac.authorization.k8s.io/v1 ClusterRoleBinding",
  "rbac.authorization.k8s.io/v1 Role",
  "rbac.authorization.k8s.io/v1 RoleBinding",
  "apiextensions.k8s.io/v1 CustomResourceDefinition",
  "policy/v1 PodDisruptionBudget",
  "apps/v1 DaemonSet",
  "apps/v1 Deployment",
] as const;
export type ManifestType = (typeof manifestTypes)[number];

/** Of an object that was read: nothing else gets so far. */
export const typeOf = ({ apiVersion, kind }: ManifestObject): ManifestType =>
  `${apiVersion} ${kind}` as ManifestType;

const workloadKinds = ["DaemonSet", "Deployment"];
export const isWorkload = ({ kind }: ManifestObject): boolean => workloadKinds.includes(kind);

/** What a manifest must have for its pod network to be told what it has to know. */
export interface Anchors {
  readonly configMap: string;
  readonly daemonSet: string;
  /** Containers of the DaemonSet that are given settings. */
  readonly containers: readonly string[];
  /** What of the ConfigMap's text is changed, and how a person calls it. @default nothing */
  readonly data?: { readonly key: string; readonly pattern: RegExp; readonly says: string };
}

export type Manifest =
  { readonly objects: readonly ManifestObject[] } | { readonly problem: string };

/** The objects of a manifest, if it is one of the network that it is meant for. */
export function readManifest(text: string, anchors: Anchors): Manifest {
  try {
    const documents = parseAllDocuments(text);
    const [error] = documents.flatMap(({ errors }) => errors);
    if (error !== undefined) throw error;
    const objects = documents
      .map((document) => document.toJS({ maxAliasCount: 0 }) as unknown)
      .filter((value) => value !== null && value !== undefined)
      .map((value) => schemaOf(value).parse(value));
    const other = objects.map(typeOf).find((type) => !manifestTypes.includes(type));
    if (other !== undefined) return { problem: `it holds a ${other}, which is not known here` };
    const lacking = lackingIn(objects, anchors);
    return lacking === undefined ? { objects } : { problem: `it has no ${lacking}` };
  } catch (error) {
    const said = error instanceof Error ? (error.message.split("\n")[0] ?? "") : "";
    const problem = error instanceof z.ZodError ? "it holds other than Kubernetes objects" : said;
    return { problem };
  }
}

const schemaOf = (value: unknown): typeof objectSchema => {
  const { kind } = { kind: "", ...(value as object) };
  return workloadKinds.includes(kind) ? workloadSchema : objectSchema;
};

function lackingIn(objects: readonly ManifestObject[], anchors: Anchors): string | undefined {
  const has = (kind: string, name: string) =>
    objects.find((object) => object.kind === kind && object.metadata.name === name);
  const configMap = has("ConfigMap", anchors.configMap);
  if (!configMap) return `ConfigMap ${anchors.configMap}`;
  if (anchors.data && !holds(configMap, anchors.data))
    return `${anchors.data.says} in ${anchors.data.key} of ${anchors.configMap}`;
  const daemonSet = has("DaemonSet", anchors.daemonSet);
  if (!daemonSet) return `DaemonSet ${anchors.daemonSet}`;
  const names = containersOf(daemonSet).map(({ name }) => name);
  const missing = anchors.containers.find((name) => !names.includes(name));
  return missing === undefined ? undefined : `container ${missing} in ${anchors.daemonSet}`;
}

const holds = ({ data }: ManifestObject, { key, pattern }: NonNullable<Anchors["data"]>): boolean =>
  pattern.test(String((data as Readonly<Record<string, unknown>> | undefined)?.[key]));

const containersOf = (object: ManifestObject): readonly ManifestContainer[] => {
  const { initContainers = [], containers } = (object as Workload).spec.template.spec;
  return [...initContainers, ...containers];
};

type Change = (object: ManifestObject) => ManifestObject;

/** Every object through all changes, in their order. */
export const changed = (
  objects: readonly ManifestObject[],
  changes: readonly Change[],
): readonly ManifestObject[] =>
  objects.map((object) => changes.reduce((made, change) => change(made), object));

const only =
  (kind: string, name: string, change: Change): Change =>
  (object) =>
    object.kind === kind && object.metadata.name === name ? change(object) : object;

const mapContainers =
  (change: (container: ManifestContainer) => ManifestContainer): Change =>
  (object) => {
    if (!isWorkload(object)) return object;
    const { spec } = object as Workload;
    const pod = spec.template.spec;
    return {
      ...object,
      spec: {
        ...spec,
        template: {
          ...spec.template,
          spec: {
            ...pod,
            ...(pod.initContainers && { initContainers: pod.initContainers.map(change) }),
            containers: pod.containers.map(change),
          },
        },
      },
    };
  };

/** The site's copies of the images, or what stands in for them, and the last log lines as the pod's message, which is what a failed `up` shows. */
export const runHere = (registry: ImageRegistry | undefined, own?: OwnImages): Change =>
  mapContainers((container) => ({
    ...container,
    image: manifestImage(container.image, registry, own),
    terminationMessagePolicy: "FallbackToLogsOnError",
  }));

/** Values of a ConfigMap; others stay as they are published. */
export const withData = (name: string, data: Readonly<Record<string, Late>>): Change =>
  only("ConfigMap", name, (object) => ({
    ...object,
    data: { ...(object["data"] as object), ...data },
  }));

/** A text of a ConfigMap as it is published, changed. */
export const withEdited = (name: string, key: string, edit: (text: string) => string): Change =>
  only("ConfigMap", name, (object) => {
    const data = object["data"] as Readonly<Record<string, unknown>>;
    return { ...object, data: { ...data, [key]: edit(String(data[key])) } };
  });

/** One container of a DaemonSet. */
export const withContainer = (
  daemonSet: string,
  name: string,
  change: (container: ManifestContainer) => ManifestContainer,
): Change =>
  only(
    "DaemonSet",
    daemonSet,
    mapContainers((container) => (container.name === name ? change(container) : container)),
  );

/** What stands in the environment: a value, or a field of the pod. */
export type Variable = string | { readonly fieldPath: string };

/** Variables of a container; others stay as they are published. */
export const withVariables =
  (variables: Readonly<Record<string, Variable>>) =>
  (container: ManifestContainer): ManifestContainer => ({
    ...container,
    env: [
      ...(container.env ?? []).filter(({ name }) => !(name in variables)),
      ...Object.entries(variables).map(([name, value]) =>
        typeof value === "string" ? { name, value } : { name, valueFrom: { fieldRef: value } },
      ),
    ],
  });

/** Restarts the pods of a DaemonSet when the value is another one. */
export const withChecksum = (daemonSet: string, value: Late): Change =>
  only("DaemonSet", daemonSet, (object) => {
    const { spec } = object as Workload;
    const { metadata } = spec.template;
    const annotations = { ...metadata.annotations, "checksum/config": value };
    const template = { ...spec.template, metadata: { ...metadata, annotations } };
    return { ...object, spec: { ...spec, template } };
  });
