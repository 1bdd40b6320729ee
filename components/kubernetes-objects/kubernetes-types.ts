/**
 * Types of Kubernetes objects from the Pulumi SDK, for files that only render objects. This file
 * imports only types, so these files load no code of Pulumi.
 */
import type {
  apiextensions,
  apiregistration,
  apps,
  core,
  networking,
  policy,
  rbac,
  storage,
  types,
} from "@pulumi/kubernetes";
import type * as pulumi from "@pulumi/pulumi";

/** String that may become known only during the run, such as an ID from the cloud. */
export type StringInput = pulumi.Input<string>;

/** List of strings that may become known only during the run. */
export type StringsInput = pulumi.Input<string[]>;

/**
 * Object with API version, kind and name. The name is required, because Pulumi would otherwise
 * generate a name.
 */
type Named<Args> = Omit<Args, "metadata"> & {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: types.input.meta.v1.ObjectMeta & { readonly name: string };
};

export type ConfigMap = Named<core.v1.ConfigMapArgs>;
export type Namespace = Named<core.v1.NamespaceArgs>;
export type PersistentVolumeClaim = Named<core.v1.PersistentVolumeClaimArgs>;
export type Secret = Named<core.v1.SecretArgs>;
export type Service = Named<core.v1.ServiceArgs>;
export type ServiceAccount = Named<core.v1.ServiceAccountArgs>;

export type DaemonSet = Named<apps.v1.DaemonSetArgs>;
export type Deployment = Named<apps.v1.DeploymentArgs>;
export type StatefulSet = Named<apps.v1.StatefulSetArgs>;

export type ClusterRole = Named<rbac.v1.ClusterRoleArgs>;
export type ClusterRoleBinding = Named<rbac.v1.ClusterRoleBindingArgs>;
export type Role = Named<rbac.v1.RoleArgs>;
export type RoleBinding = Named<rbac.v1.RoleBindingArgs>;
export type PolicyRule = types.input.rbac.v1.PolicyRule;

export type ApiService = Named<apiregistration.v1.APIServiceArgs>;
export type CustomResourceDefinition = Named<apiextensions.v1.CustomResourceDefinitionArgs>;
export type JsonSchema = types.input.apiextensions.v1.JSONSchemaProps;

export type Ingress = Named<networking.v1.IngressArgs>;
export type IngressClass = Named<networking.v1.IngressClassArgs>;
export type PodDisruptionBudget = Named<policy.v1.PodDisruptionBudgetArgs>;

export type CsiDriver = Named<storage.v1.CSIDriverArgs>;
export type StorageClass = Named<storage.v1.StorageClassArgs>;

export type Container = types.input.core.v1.Container;
export type DeploymentStrategy = types.input.apps.v1.DeploymentStrategy;
export type EnvVar = types.input.core.v1.EnvVar;
export type Probe = types.input.core.v1.Probe;
export type PodSpec = types.input.core.v1.PodSpec;
export type SecurityContext = types.input.core.v1.SecurityContext;
export type Toleration = types.input.core.v1.Toleration;
export type Volume = types.input.core.v1.Volume;
