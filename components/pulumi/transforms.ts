import * as pulumi from "@pulumi/pulumi";
import { wrapSecrets } from "./pulumi-internals.js";

/** Types of the resources that a user can transform, as Pulumi's type tokens. */
export const transformableTypes = {
  network: "openstack:networking/network:Network",
  subnet: "openstack:networking/subnet:Subnet",
  router: "openstack:networking/router:Router",
  routerInterface: "openstack:networking/routerInterface:RouterInterface",
  port: "openstack:networking/port:Port",
  floatingIp: "openstack:networking/floatingIp:FloatingIp",
  floatingIpAssociation: "openstack:networking/floatingIpAssociate:FloatingIpAssociate",
  securityGroup: "openstack:networking/secGroup:SecGroup",
  securityGroupRule: "openstack:networking/secGroupRule:SecGroupRule",
  server: "openstack:compute/instance:Instance",
  volume: "openstack:blockstorage/volume:Volume",
  serverGroup: "openstack:compute/serverGroup:ServerGroup",
  loadBalancer: "openstack:loadbalancer/loadBalancer:LoadBalancer",
  listener: "openstack:loadbalancer/listener:Listener",
  pool: "openstack:loadbalancer/pool:Pool",
  member: "openstack:loadbalancer/member:Member",
  monitor: "openstack:loadbalancer/monitor:Monitor",
  applicationCredential: "openstack:identity/applicationCredential:ApplicationCredential",
  namespace: "kubernetes:core/v1:Namespace",
  configMap: "kubernetes:core/v1:ConfigMap",
  secret: "kubernetes:core/v1:Secret",
  service: "kubernetes:core/v1:Service",
  serviceAccount: "kubernetes:core/v1:ServiceAccount",
  persistentVolumeClaim: "kubernetes:core/v1:PersistentVolumeClaim",
  daemonSet: "kubernetes:apps/v1:DaemonSet",
  deployment: "kubernetes:apps/v1:Deployment",
  statefulSet: "kubernetes:apps/v1:StatefulSet",
  podDisruptionBudget: "kubernetes:policy/v1:PodDisruptionBudget",
  ingress: "kubernetes:networking.k8s.io/v1:Ingress",
  ingressClass: "kubernetes:networking.k8s.io/v1:IngressClass",
  clusterRole: "kubernetes:rbac.authorization.k8s.io/v1:ClusterRole",
  clusterRoleBinding: "kubernetes:rbac.authorization.k8s.io/v1:ClusterRoleBinding",
  role: "kubernetes:rbac.authorization.k8s.io/v1:Role",
  roleBinding: "kubernetes:rbac.authorization.k8s.io/v1:RoleBinding",
  storageClass: "kubernetes:storage.k8s.io/v1:StorageClass",
  csiDriver: "kubernetes:storage.k8s.io/v1:CSIDriver",
  volumeSnapshotClass: "kubernetes:snapshot.storage.k8s.io/v1:VolumeSnapshotClass",
  customResourceDefinition: "kubernetes:apiextensions.k8s.io/v1:CustomResourceDefinition",
  apiService: "kubernetes:apiregistration.k8s.io/v1:APIService",
} as const;
export type ChildKind = keyof typeof transformableTypes;

/** Resource before the engine gets it. */
export interface TransformedChild {
  readonly name: string;
  /**
   * Inputs of the resource. Values are resolved; a secret value is an output, and so is a value
   * that a preview does not know.
   */
  readonly props: Readonly<Record<string, unknown>>;
  readonly opts: pulumi.ResourceOptions;
}

/** Inputs and options that the resource gets. */
export interface TransformResult {
  readonly props: Record<string, unknown>;
  /** @default the options of the resource */
  readonly opts?: pulumi.ResourceOptions;
}

/** Function that changes the inputs and options of one resource before the provider gets them. */
export type Transform = (child: TransformedChild) => TransformResult | Promise<TransformResult>;

/**
 * Functions that change a cluster's resources, one for each type of resource. Use them for settings
 * without an argument: an additional tag, a scheduler hint, a volume. The engine calls them through
 * Pulumi's own `transforms`.
 *
 * Do not change values that the cluster needs to work: names, groups, and the tags and metadata
 * that mark the cluster. Commands cannot be transformed, because the program reads the output of
 * commands, and commands contain secrets. For your own scripts, write `steps`. The Kubernetes
 * provider cannot be transformed either. It has only the kubeconfig, from which your program can
 * create another provider.
 */
export type Transforms = { readonly [Kind in ChildKind]?: Transform };

/** Returns component options that apply the transforms to all resources below the component. */
export function addTransforms(
  opts: pulumi.ComponentResourceOptions | undefined,
  transforms: Transforms = {},
): pulumi.ComponentResourceOptions {
  const byType = new Map<string, Transform>(
    (Object.keys(transformableTypes) as ChildKind[]).flatMap((kind) => {
      const chosen = transforms[kind];
      return chosen ? [[transformableTypes[kind], chosen]] : [];
    }),
  );
  // The engine would otherwise call the program once for each resource of the cluster.
  if (byType.size === 0) return opts ?? {};
  const transform: pulumi.ResourceTransform = async ({ type, name, props, opts: given }) => {
    const chosen = byType.get(type);
    if (!chosen) return undefined;
    const shown = withoutUnset(given);
    const inputs = wrapSecrets(props);
    const { props: changed, opts: wanted } = await chosen({ name, props: inputs, opts: shown });
    // Without `opts`, the engine keeps the options, also those that the SDK cannot send back.
    return (
      wanted === undefined || wanted === shown
        ? { props: changed }
        : { props: changed, opts: wanted }
    ) as pulumi.ResourceTransformResult;
  };
  return pulumi.mergeOptions(opts, { transforms: [transform] });
}

/**
 * Returns the options without `deleteBeforeReplace: false`, which the SDK shows for every resource.
 * Sent back, `false` would overrule plugins that delete an object before they create another one
 * with the same name.
 */
function withoutUnset(given: pulumi.ResourceOptions): pulumi.ResourceOptions {
  const { deleteBeforeReplace, ...others } = given as pulumi.CustomResourceOptions;
  return deleteBeforeReplace === true ? given : others;
}
