import { getValueAt } from "../objects/json.js";
import { getGvk } from "../objects/kinds.js";
import { getKind } from "../objects/object-fields.js";
import { isObject } from "../../plugin/values.js";
import type { Json, JsonObject } from "../../plugin/values.js";

/** Path of a field that cannot be changed in place. `*` matches every item of a list. */
export type FieldPath = readonly string[];
/** Path of a change: keys of maps and indexes of lists. */
export type ChangePath = readonly (string | number)[];

const paths = (...texts: string[]): FieldPath[] => texts.map((text) => text.split("."));
const under = (prefix: string, ...names: string[]): FieldPath[] =>
  names.map((name) => [...prefix.split("."), name]);

const identity = paths("metadata.name", "metadata.namespace");
const selector = paths("spec.selector");

const containerFields = [
  "args",
  "command",
  "env",
  "image",
  "imagePullPolicy",
  "lifecycle",
  "livenessProbe",
  "ports",
  "readinessProbe",
  "resources",
  "securityContext",
  "stdin",
  "stdinOnce",
  "terminationMessagePath",
  "terminationMessagePolicy",
  "tty",
  "volumeDevices",
  "volumeMounts",
  "workingDir",
];

const podFields = [
  "affinity",
  "automountServiceAccountToken",
  "dnsConfig",
  "dnsPolicy",
  "enableServiceLinks",
  "hostAliases",
  "hostIPC",
  "hostNetwork",
  "hostPID",
  "hostname",
  "imagePullSecrets",
  "nodeName",
  "nodeSelector",
  "overhead",
  "preemptionPolicy",
  "priority",
  "priorityClassName",
  "readinessGates",
  "restartPolicy",
  "runtimeClassName",
  "schedulerName",
  "securityContext",
  "serviceAccount",
  "serviceAccountName",
  "shareProcessNamespace",
  "subdomain",
  "terminationGracePeriodSeconds",
  "volumes",
];

const volumeSources = [
  "awsElasticBlockStore",
  "azureDisk",
  "azureFile",
  "cephfs",
  "cinder",
  "csi",
  "fc",
  "flexVolume",
  "flocker",
  "gcePersistentDisk",
  "glusterfs",
  "hostPath",
  "iscsi",
  "local",
  "nfs",
  "photonPersistentDisk",
  "portworxVolume",
  "quobyte",
  "rbd",
  "scaleIO",
  "storageos",
  "vsphereVolume",
];

const roleRef = paths("roleRef");

/**
 * Fields whose change replaces an object, by group and kind. The fields are equal for all versions
 * that are still served. Source: the official provider's table (diff.go).
 */
const byKind: Record<string, FieldPath[]> = {
  "apps/DaemonSet": selector,
  "apps/Deployment": selector,
  "apps/StatefulSet": [
    ...selector,
    ...under(
      "spec",
      "podManagementPolicy",
      "revisionHistoryLimit",
      "serviceName",
      "volumeClaimTemplates",
    ),
  ],
  "batch/Job": under("spec", "completions", "parallelism", "selector", "template"),
  "rbac.authorization.k8s.io/ClusterRoleBinding": roleRef,
  "rbac.authorization.k8s.io/RoleBinding": roleRef,
  "storage.k8s.io/StorageClass": paths("parameters", "provisioner"),
  "/PersistentVolume": under("spec", ...volumeSources),
  "/PersistentVolumeClaim": under(
    "spec",
    "accessModes",
    "selector",
    "storageClassName",
    "volumeName",
  ),
  "/Pod": [
    ...under("spec", ...podFields),
    ...under("spec.containers.*", ...containerFields),
    ...under("spec.initContainers.*", ...containerFields),
  ],
  "/ResourceQuota": paths("spec.scopes"),
  "/Service": paths("spec.clusterIP"),
};

export interface Mutability {
  /**
   * Provider argument `enableConfigMapMutable`. @default false, so that a change replaces the
   * ConfigMap and its readers restart
   */
  readonly configMaps: boolean;
  /** Provider argument `enableSecretMutable`. @default false */
  readonly secrets: boolean;
}

/** Returns the fields of `object` whose change replaces the object. */
export function listReplacingFields(
  object: JsonObject,
  mutability: Mutability,
): readonly FieldPath[] {
  const { group } = getGvk(object);
  const kind = getKind(object);
  const immutable = getValueAt(object, "immutable") === true;
  if (group === "" && kind === "Secret") {
    return mutability.secrets && !immutable
      ? [...identity, ...paths("type")]
      : [...identity, ...paths("type", "stringData", "data")];
  }
  if (group === "" && kind === "ConfigMap" && (!mutability.configMaps || immutable)) {
    return [...identity, ...paths("binaryData", "data")];
  }
  return [...identity, ...(byKind[`${group}/${kind}`] ?? [])];
}

/**
 * Reports whether a change of `path` to `value` affects the field. A change affects the field if
 * one of both paths contains the other.
 */
export function isFieldAffected(
  field: FieldPath,
  path: ChangePath,
  value: Json | undefined,
): boolean {
  for (const [i, key] of field.entries()) {
    const step = path[i];
    if (i >= path.length) return contains(value, field.slice(i));
    if (key === "*" ? typeof step !== "number" : step !== key) return false;
  }
  return true;
}

function contains(value: Json | undefined, field: FieldPath): boolean {
  const [key, ...rest] = field;
  if (key === undefined) return true;
  if (key === "*") return Array.isArray(value) && value.some((item) => contains(item, rest));
  return isObject(value) && Object.hasOwn(value, key) && contains(value[key], rest);
}
