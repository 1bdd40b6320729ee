/** Reads a published manifest and changes its objects (pure functions). */
import { parseAllDocuments } from "yaml";
import { z } from "zod";
import {
  resolveManifestImage,
  type ImageRegistry,
  type OwnImages,
} from "../../base/versions/container-images.js";
import type { StringInput } from "../kubernetes-objects/kubernetes-types.js";

const objectSchema = z.looseObject({
  apiVersion: z.string(),
  kind: z.string(),
  metadata: z.looseObject({ name: z.string(), namespace: z.string().optional() }),
});
/** Object of a manifest. Values that are known only during an update are Pulumi inputs. */
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

/** Types that a pod network's manifest may contain, in the form `apiVersion kind`. */
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

/** Returns the type of an object that `readManifest` accepted. */
export const getManifestType = ({ apiVersion, kind }: ManifestObject): ManifestType =>
  `${apiVersion} ${kind}` as ManifestType;

const workloadKinds = ["DaemonSet", "Deployment"];
export const isWorkload = ({ kind }: ManifestObject): boolean => workloadKinds.includes(kind);

/**
 * Parts of a manifest into which the program writes the cluster's settings. A manifest without
 * these parts is refused.
 */
export interface RequiredManifestParts {
  readonly configMap: string;
  readonly daemonSet: string;
  /** Names of the containers of the DaemonSet that receive settings. */
  readonly containers: readonly string[];
  /**
   * Text in the ConfigMap that the program replaces. Error messages call the text `says`.
   * @default none
   */
  readonly data?: { readonly key: string; readonly pattern: RegExp; readonly says: string };
}

export type ManifestReadResult =
  { readonly objects: readonly ManifestObject[] } | { readonly problem: string };

/**
 * Returns the objects of a manifest. Returns an error message if the manifest contains objects of
 * unknown types, or does not contain all parts in `anchors`.
 */
export function readManifest(text: string, anchors: RequiredManifestParts): ManifestReadResult {
  try {
    const documents = parseAllDocuments(text);
    const [error] = documents.flatMap(({ errors }) => errors);
    if (error !== undefined) throw error;
    const objects = documents
      .map((document) => document.toJS({ maxAliasCount: 0 }) as unknown)
      .filter((value) => value !== null && value !== undefined)
      .map((value) => schemaOf(value).parse(value));
    const other = objects.map(getManifestType).find((type) => !manifestTypes.includes(type));
    if (other !== undefined) return { problem: `it holds a ${other}, which is not known here` };
    const lacking = lackingIn(objects, anchors);
    return lacking === undefined ? { objects } : { problem: `it has no ${lacking}` };
  } catch (error) {
    const message = error instanceof Error ? (error.message.split("\n")[0] ?? "") : "";
    const problem =
      error instanceof z.ZodError ? "it holds other than Kubernetes objects" : message;
    return { problem };
  }
}

const schemaOf = (value: unknown): typeof objectSchema => {
  const { kind } = { kind: "", ...(value as object) };
  return workloadKinds.includes(kind) ? workloadSchema : objectSchema;
};

function lackingIn(
  objects: readonly ManifestObject[],
  anchors: RequiredManifestParts,
): string | undefined {
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

const holds = (
  { data }: ManifestObject,
  { key, pattern }: NonNullable<RequiredManifestParts["data"]>,
): boolean => pattern.test(String((data as Readonly<Record<string, unknown>> | undefined)?.[key]));

const containersOf = (object: ManifestObject): readonly ManifestContainer[] => {
  const { initContainers = [], containers } = (object as Workload).spec.template.spec;
  return [...initContainers, ...containers];
};

type Change = (object: ManifestObject) => ManifestObject;

/** Returns the objects after all changes, which are applied in the given order. */
export const applyChanges = (
  objects: readonly ManifestObject[],
  changes: readonly Change[],
): readonly ManifestObject[] =>
  objects.map((object) => changes.reduce((changed, change) => change(changed), object));

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

/**
 * Returns a change that replaces the images of all containers with copies in the registry or with
 * images of the user. The change also makes Kubernetes report the last log lines of a failed
 * container, so that a failed `up` shows these lines.
 */
export const replaceImages = (registry: ImageRegistry | undefined, own?: OwnImages): Change =>
  mapContainers((container) => ({
    ...container,
    image: resolveManifestImage(container.image, registry, own),
    terminationMessagePolicy: "FallbackToLogsOnError",
  }));

/** Returns a change that sets values of a ConfigMap and keeps all other values. */
export const setConfigMapData = (
  name: string,
  data: Readonly<Record<string, StringInput>>,
): Change =>
  only("ConfigMap", name, (object) => ({
    ...object,
    data: { ...(object["data"] as object), ...data },
  }));

/** Returns a change that edits one value of a ConfigMap. */
export const editConfigMapData = (
  name: string,
  key: string,
  edit: (text: string) => string,
): Change =>
  only("ConfigMap", name, (object) => {
    const data = object["data"] as Readonly<Record<string, unknown>>;
    return { ...object, data: { ...data, [key]: edit(String(data[key])) } };
  });

/** Returns a change of one container of a DaemonSet. */
export const changeContainer = (
  daemonSet: string,
  name: string,
  change: (container: ManifestContainer) => ManifestContainer,
): Change =>
  only(
    "DaemonSet",
    daemonSet,
    mapContainers((container) => (container.name === name ? change(container) : container)),
  );

/** Value of an environment variable: a string, or a field of the pod. */
export type EnvVarValue = string | { readonly fieldPath: string };

/** Returns a function that sets environment variables of a container and keeps all others. */
export const setEnvVars =
  (variables: Readonly<Record<string, EnvVarValue>>) =>
  (container: ManifestContainer): ManifestContainer => ({
    ...container,
    env: [
      ...(container.env ?? []).filter(({ name }) => !(name in variables)),
      ...Object.entries(variables).map(([name, value]) =>
        typeof value === "string" ? { name, value } : { name, valueFrom: { fieldRef: value } },
      ),
    ],
  });

/**
 * Returns a change that sets an annotation of a DaemonSet's pods. A changed value restarts the
 * pods.
 */
export const setChecksumAnnotation = (daemonSet: string, value: StringInput): Change =>
  only("DaemonSet", daemonSet, (object) => {
    const { spec } = object as Workload;
    const { metadata } = spec.template;
    const annotations = { ...metadata.annotations, "checksum/config": value };
    const template = { ...spec.template, metadata: { ...metadata, annotations } };
    return { ...object, spec: { ...spec, template } };
  });
