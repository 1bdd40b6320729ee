import * as pulumi from "@pulumi/pulumi";

/** What a cluster is made of, by the kinds that somebody may want to change, and their type tokens. */
const kinds = {
  network: "openstack:networking/network:Network",
  subnet: "openstack:networking/subnet:Subnet",
  router: "openstack:networking/router:Router",
  port: "openstack:networking/port:Port",
  floatingIp: "openstack:networking/floatingIp:FloatingIp",
  securityGroup: "openstack:networking/secGroup:SecGroup",
  server: "openstack:compute/instance:Instance",
  volume: "openstack:blockstorage/volume:Volume",
  serverGroup: "openstack:compute/serverGroup:ServerGroup",
  loadBalancer: "openstack:loadbalancer/loadBalancer:LoadBalancer",
  daemonSet: "kubernetes:apps/v1:DaemonSet",
  deployment: "kubernetes:apps/v1:Deployment",
  storageClass: "kubernetes:storage.k8s.io/v1:StorageClass",
} as const;
export type ChildKind = keyof typeof kinds;

/** What becomes of one child: its inputs and options as the provider is to see them. */
export type Transform = (child: {
  readonly name: string;
  readonly props: Readonly<Record<string, unknown>>;
  readonly opts: pulumi.ResourceOptions;
}) => { readonly props: Record<string, unknown>; readonly opts?: pulumi.ResourceOptions };

/**
 * Changes to what a cluster is made of, one function per kind of child. For what no argument says: an own tag, a scheduler
 * hint, a volume. What the cluster needs in order to work (names, groups, marks) is to be left as it is.
 */
export type Transforms = { readonly [Kind in ChildKind]?: Transform };

/** The options of a component whose children are transformed so. */
export function withTransforms(
  opts: pulumi.ComponentResourceOptions | undefined,
  transforms: Transforms = {},
): pulumi.ComponentResourceOptions {
  const byType = new Map<string, Transform | undefined>(
    (Object.keys(kinds) as ChildKind[]).map((kind) => [kinds[kind], transforms[kind]]),
  );
  const transformation: pulumi.ResourceTransformation = ({ type, name, props, opts: given }) => {
    const transform = byType.get(type);
    if (!transform) return undefined;
    const { props: changed, opts: wanted = given } = transform({
      name,
      props: props,
      opts: given,
    });
    return { props: changed, opts: wanted };
  };
  return pulumi.mergeOptions(opts, { transformations: [transformation] });
}
