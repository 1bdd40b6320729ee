import type { CloudObject } from "./inventory.js";

/** Why an object belongs to a cluster. The sweeper acts on nothing else. */
export type Claim =
  | "marked by stackadm"
  | "load balancer of a Service"
  | "floating IP of a Service"
  | "security group of a Service"
  | "volume of a PersistentVolume"
  | "server group of marked servers";

const mark = "stackadm-cluster";

/** The tag of everything in Neutron that belongs to a cluster. */
export const clusterTag = (cluster: string): string => `${mark}=${cluster}`;

/** The metadata of the servers of a cluster. */
export const clusterMetadata = (cluster: string): Record<string, string> => ({ [mark]: cluster });

/** The description of the application credential, which has neither tags nor metadata. */
export const credentialDescription = (cluster: string): string =>
  `Cloud controller manager and Cinder CSI of cluster ${cluster}`;

const endsWithCluster = (description: string, cluster: string): boolean =>
  description.endsWith(` cluster ${cluster}`);

function tagged(object: CloudObject, cluster: string): boolean {
  return (
    object.tags.includes(clusterTag(cluster)) ||
    object.metadata[mark] === cluster ||
    object.description === credentialDescription(cluster)
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
