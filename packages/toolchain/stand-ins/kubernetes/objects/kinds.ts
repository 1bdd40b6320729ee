import { getApiVersion, getKind } from "./object-fields.js";
import type { JsonObject } from "../../plugin/values.js";

/** Group, version and kind, which identify a resource type for the API server. */
export interface GroupVersionKind {
  /** API group. Empty for the core group. */
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

/**
 * API groups that Kubernetes itself serves. All other groups belong to custom resources or
 * aggregated APIs.
 */
const builtInGroups = new Set([
  "",
  "apps",
  "autoscaling",
  "batch",
  "extensions",
  "policy",
  "admissionregistration.k8s.io",
  "apiextensions.k8s.io",
  "apiregistration.k8s.io",
  "certificates.k8s.io",
  "coordination.k8s.io",
  "discovery.k8s.io",
  "events.k8s.io",
  "flowcontrol.apiserver.k8s.io",
  "networking.k8s.io",
  "node.k8s.io",
  "rbac.authorization.k8s.io",
  "resource.k8s.io",
  "scheduling.k8s.io",
  "storage.k8s.io",
  "storagemigration.k8s.io",
]);

/** Built-in kinds without a namespace (`kubectl api-resources --namespaced=false`). */
const clusterScoped = new Set([
  "APIService",
  "CSIDriver",
  "CSINode",
  "CertificateSigningRequest",
  "ClusterRole",
  "ClusterRoleBinding",
  "ClusterTrustBundle",
  "ComponentStatus",
  "CustomResourceDefinition",
  "DeviceClass",
  "FlowSchema",
  "IPAddress",
  "IngressClass",
  "MutatingAdmissionPolicy",
  "MutatingAdmissionPolicyBinding",
  "MutatingWebhookConfiguration",
  "Namespace",
  "Node",
  "PersistentVolume",
  "PriorityClass",
  "PriorityLevelConfiguration",
  "ResourceSlice",
  "RuntimeClass",
  "SelfSubjectReview",
  "ServiceCIDR",
  "StorageClass",
  "StorageVersionMigration",
  "SubjectAccessReview",
  "TokenReview",
  "ValidatingAdmissionPolicy",
  "ValidatingAdmissionPolicyBinding",
  "ValidatingWebhookConfiguration",
  "VolumeAttachment",
  "VolumeAttributesClass",
]);

export const isBuiltIn = (gvk: GroupVersionKind): boolean => builtInGroups.has(gvk.group);

/** Reports whether a built-in kind is namespaced. Valid only if {@link isBuiltIn} is true. */
export const isNamespacedBuiltIn = (gvk: GroupVersionKind): boolean => !clusterScoped.has(gvk.kind);

export function getGvk(object: JsonObject): GroupVersionKind {
  const apiVersion = getApiVersion(object);
  const [group, version] = apiVersion.includes("/") ? apiVersion.split("/") : ["", apiVersion];
  return { group: group ?? "", version: version ?? "", kind: getKind(object) };
}

export const formatApiVersion = (gvk: GroupVersionKind): string =>
  gvk.group === "" ? gvk.version : `${gvk.group}/${gvk.version}`;

/**
 * Returns the group, version and kind in the URN of a resource:
 * `urn:pulumi:stack::project::parent$kubernetes:apps/v1:Deployment::name`.
 */
export function parseGvkFromUrn(urn: string): GroupVersionKind {
  const type = parseTypeFromUrn(urn);
  const [, module = "", kind = ""] = type.split(":");
  const [group, version] = module.split("/");
  if (group === undefined || version === undefined || kind === "") {
    throw new Error(`apiVersion does not have both a group and a version: "${module}"`);
  }
  return { group: group === "core" ? "" : group, version, kind };
}

export const parseTypeFromUrn = (urn: string): string =>
  urn.split("::")[2]?.split("$").at(-1) ?? "";
export const parseNameFromUrn = (urn: string): string => urn.split("::").slice(3).join("::");

export const isCrd = (object: JsonObject): boolean =>
  getKind(object) === "CustomResourceDefinition" && getGvk(object).group === "apiextensions.k8s.io";

export const isSecretKind = (object: JsonObject): boolean =>
  getKind(object) === "Secret" && getApiVersion(object) === "v1";

/**
 * Reports whether the type ends in `Patch`. Such a resource changes parts of objects that other
 * tools manage. The stand-in does not support it.
 */
export const isPatchType = (urn: string, kind: string): boolean =>
  parseTypeFromUrn(urn).endsWith("Patch") && !kind.endsWith("Patch");

/** Reports whether the type ends in `List`. Such types exist only for YAML files. */
export const isListType = (urn: string): boolean => {
  const gvk = parseGvkFromUrn(urn);
  return isBuiltIn(gvk) && gvk.kind.endsWith("List");
};
