import type { CloudObject } from "./inventory.js";

/** Why an object belongs to a cluster. The sweeper acts on nothing else. */
export type Claim =
  | "marked by stackadm"
  | "load balancer of a Service"
  | "floating IP of a Service"
  | "security group of a Service"
  | "volume of a PersistentVolume";

/** The tag (on servers: metadata `stackadm-cluster`) that objects of a cluster carry. */
export const clusterTag = (cluster: string): string => `stackadm-cluster=${cluster}`;

/** How the program describes what it makes and cannot tag. */
const describedAs = (cluster: string): readonly string[] => [
  `Kubernetes API of cluster ${cluster}`,
  `All machines of cluster ${cluster}`,
  `Cloud controller manager and Cinder CSI of cluster ${cluster}`,
  ...["control-plane", "worker"].map(
    (role) => `Machines of cluster ${cluster} with the role ${role}`,
  ),
];

const endsWithCluster = (description: string, cluster: string): boolean =>
  description.endsWith(` cluster ${cluster}`);

function tagged(object: CloudObject, cluster: string): boolean {
  return (
    object.tags.includes(clusterTag(cluster)) ||
    object.metadata["stackadm-cluster"] === cluster ||
    object.metadata["stackadm_cluster"] === cluster ||
    describedAs(cluster).includes(object.description)
  );
}

/** How the cloud controller manager and the Cinder CSI mark what they make for a cluster. */
const foreignHands: Readonly<
  Partial<
    Record<
      CloudObject["kind"],
      { claim: Claim; matches: (o: CloudObject, cluster: string) => boolean }
    >
  >
> = {
  "load balancer": {
    claim: "load balancer of a Service",
    matches: (object, cluster) => object.name.startsWith(`kube_service_${cluster}_`),
  },
  "floating IP": {
    claim: "floating IP of a Service",
    matches: (object, cluster) =>
      object.description.startsWith("Floating IP for Kubernetes") &&
      endsWithCluster(object.description, cluster),
  },
  "security group": {
    claim: "security group of a Service",
    matches: (object, cluster) =>
      object.name.startsWith("lb-sg-") && endsWithCluster(object.description, cluster),
  },
  volume: {
    claim: "volume of a PersistentVolume",
    matches: (object, cluster) => object.metadata["cinder.csi.openstack.org/cluster"] === cluster,
  },
};

/** Why `object` belongs to `cluster`, or undefined when it is none of our business. */
export function claimOn(object: CloudObject, cluster: string): Claim | undefined {
  if (tagged(object, cluster)) return "marked by stackadm";
  const hand = foreignHands[object.kind];
  return hand?.matches(object, cluster) === true ? hand.claim : undefined;
}
