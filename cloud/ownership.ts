import type { CloudObject, Kind } from "./inventory.js";

/** Why an object belongs to a cluster. Nothing else is ever acted on. */
export type Claim =
  | "marked by stackadm"
  | "load balancer of a Service"
  | "floating IP of a Service"
  | "security group of a Service"
  | "volume of a PersistentVolume"
  | "snapshot of a PersistentVolume"
  | "server group of marked servers";

/**
 * A cluster as its objects name it. The name is for people and may be anybody's; the identity is random, made with the
 * cluster and kept in its state, and alone decides whose an object is.
 */
export interface ClusterMark {
  readonly name: string;
  /** 12 hexadecimal digits. Empty on objects of a release that made no identities: they belong to no state. */
  readonly identity: string;
}

/** Whether this is an identity: nothing else, and never the empty one, decides whose an object is. */
export const isIdentity = (text: string): boolean => /^[0-9a-f]{12}$/.test(text);

/** With data in it. A copy has the mark of its original, too, so there the mark alone never decides that anything is deleted. */
export const hasData = ({ kind }: { readonly kind: Kind }): boolean =>
  kind === "volume" || kind === "volume snapshot";

/** The mark on an object, and what it is read from. */
export interface Ownership {
  readonly mark: ClusterMark;
  readonly claim: Claim;
}

/** Key of the name, for people, in tags and metadata. */
export const clusterNameKey = "stackadm-cluster";
export const identityKey = "stackadm-identity";

/** The tags of everything in Neutron that belongs to a cluster. */
export const clusterTags = ({ name, identity }: ClusterMark): string[] => [
  `${clusterNameKey}=${name}`,
  `${identityKey}=${identity}`,
];

/** The metadata of the servers of a cluster. */
export const clusterMetadata = ({ name, identity }: ClusterMark): Record<string, string> => ({
  [clusterNameKey]: name,
  [identityKey]: identity,
});

/**
 * The name under which a cluster's own controllers know it: unique in the project, also beside a cluster of the same name.
 * Part of the name of every load balancer, of the description of its address, of the metadata of every volume.
 */
export const nameInCloud = ({ name, identity }: ClusterMark): string => `${name}-${identity}`;

const credentialPrefix = "Cloud controller manager and Cinder CSI of cluster ";

/** The description of the application credential, which has neither tags nor metadata. */
export const credentialDescription = (mark: ClusterMark): string =>
  `${credentialPrefix}${nameInCloud(mark)}`;

/** The description of what has tags in Neutron: it is there from the first moment on, they come by a second request. */
export const clusterDescription = (mark: ClusterMark, what?: string): string =>
  `${what === undefined ? "" : `${what}. `}Part of cluster ${nameInCloud(mark)}`;

/** The name of a server group, of which Nova keeps nothing else. Neither part of it has a dot. */
export const serverGroupName = (mark: ClusterMark, pool: string): string =>
  `${nameInCloud(mark)}.${pool}`;

const described = ({ description }: CloudObject): string | undefined =>
  /^(?:.+\. )?Part of cluster (\S+)$/.exec(description)?.[1];

/** Where an object says whose it is that cannot have tags, or has none yet. */
const inFirstMoment: Readonly<
  Partial<Record<CloudObject["kind"], (object: CloudObject) => string | undefined>>
> = {
  network: described,
  subnet: described,
  router: described,
  port: described,
  "floating IP": described,
  "security group": described,
  "server group": ({ name }) => /^([^.]+)\.[^.]+$/.exec(name)?.[1],
  "application credential": ({ description }) =>
    description.startsWith(credentialPrefix)
      ? description.slice(credentialPrefix.length)
      : undefined,
};

/** {@link nameInCloud} read back; undefined for a name that no cluster of ours has there. */
export function readNameInCloud(text: string | undefined): ClusterMark | undefined {
  const [, name, identity] = /^([a-z][a-z0-9-]*)-([0-9a-f]{12})$/.exec(text ?? "") ?? [];
  return name === undefined || identity === undefined ? undefined : { name, identity };
}

/** The mark that the program itself put on an object. */
function ownMark(object: CloudObject): ClusterMark | undefined {
  const { kind, tags, metadata } = object;
  const tagged = (key: string): string | undefined =>
    tags.find((tag) => tag.startsWith(`${key}=`))?.slice(key.length + 1);
  const name = tagged(clusterNameKey) ?? metadata[clusterNameKey];
  const identity = tagged(identityKey) ?? metadata[identityKey] ?? "";
  return name === undefined ? readNameInCloud(inFirstMoment[kind]?.(object)) : { name, identity };
}

/** The metadata that Cinder CSI puts on volumes and snapshots: the cluster as it was told that it is called. */
const ofCinder = ({ metadata }: CloudObject): string | undefined =>
  metadata["cinder.csi.openstack.org/cluster"];

/** How the cloud controller manager and the Cinder CSI name what they make for a cluster. */
const ofControllers: Readonly<
  Partial<
    Record<
      CloudObject["kind"],
      { readonly claim: Claim; readonly cluster: (object: CloudObject) => string | undefined }
    >
  >
> = {
  "load balancer": {
    claim: "load balancer of a Service",
    cluster: ({ name }) => /^kube_service_([^_]+)_/.exec(name)?.[1],
  },
  "floating IP": {
    claim: "floating IP of a Service",
    cluster: ({ description }) =>
      /^Floating IP for Kubernetes .* cluster (\S+)$/.exec(description)?.[1],
  },
  "security group": {
    claim: "security group of a Service",
    cluster: ({ name, description }) =>
      name.startsWith("lb-sg-") ? / cluster (\S+)$/.exec(description)?.[1] : undefined,
  },
  volume: { claim: "volume of a PersistentVolume", cluster: ofCinder },
  "volume snapshot": { claim: "snapshot of a PersistentVolume", cluster: ofCinder },
};

/** Whose an object is, or undefined when it is none of our business. */
export function ownershipOf(object: CloudObject): Ownership | undefined {
  const own = ownMark(object);
  if (own) return { mark: own, claim: "marked by stackadm" };
  const controller = ofControllers[object.kind];
  const mark = readNameInCloud(controller?.cluster(object));
  return controller && mark ? { mark, claim: controller.claim } : undefined;
}
