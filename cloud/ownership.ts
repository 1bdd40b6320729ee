import type { CloudObject, Kind } from "./inventory.js";

/** Evidence that an object belongs to a cluster. Objects without it are never touched. */
export type Claim =
  | "marked by stackadm"
  | "load balancer of a Service"
  | "floating IP of a Service"
  | "security group of a Service"
  | "volume of a PersistentVolume"
  | "snapshot of a PersistentVolume"
  | "server group of marked servers";

/**
 * Mark of a cluster on its objects. The name is for users and may occur twice; the identity is
 * random, created with the cluster and stored in its state, and is the only proof of ownership.
 */
export interface ClusterMark {
  readonly name: string;
  /**
   * Identity: 12 hexadecimal digits. Empty on objects of a release without identities, which belong
   * to no state.
   */
  readonly identity: string;
}

/**
 * Returns whether the text is an identity. Only an identity, never an empty one, proves ownership.
 */
export const isIdentity = (text: string): boolean => /^[0-9a-f]{12}$/.test(text);

/**
 * Returns whether the kind contains data. A copy has the mark of its original, so the mark alone is
 * never a reason to delete it.
 */
export const hasData = ({ kind }: { readonly kind: Kind }): boolean =>
  kind === "volume" || kind === "volume snapshot";

/** Mark on an object, and the evidence for it. */
export interface Ownership {
  readonly mark: ClusterMark;
  readonly claim: Claim;
}

/** Key of the cluster's name in tags and metadata, for users. */
export const clusterNameKey = "stackadm-cluster";
export const identityKey = "stackadm-identity";

/** Returns the tags of a cluster's objects in Neutron. */
export const clusterTags = ({ name, identity }: ClusterMark): string[] => [
  `${clusterNameKey}=${name}`,
  `${identityKey}=${identity}`,
];

/** Returns the metadata of a cluster's servers. */
export const clusterMetadata = ({ name, identity }: ClusterMark): Record<string, string> => ({
  [clusterNameKey]: name,
  [identityKey]: identity,
});

/**
 * Returns the name under which a cluster's controllers know it: unique in the project, even if two
 * clusters have the same name. It is part of the name of every load balancer of a Service, of the
 * description of its address and of the metadata of every volume.
 */
export const nameInCloud = ({ name, identity }: ClusterMark): string => `${name}-${identity}`;

const credentialPrefix = "Cloud controller manager and Cinder CSI of cluster ";

/** Returns the description of the application credential, which has neither tags nor metadata. */
export const credentialDescription = (mark: ClusterMark): string =>
  `${credentialPrefix}${nameInCloud(mark)}`;

/**
 * Returns the description of an object with tags in Neutron. The description exists from the start;
 * tags follow in a second request.
 */
export const clusterDescription = (mark: ClusterMark, what?: string): string =>
  `${what === undefined ? "" : `${what}. `}Part of cluster ${nameInCloud(mark)}`;

/**
 * Returns the name of a server group, which has no other mark in Nova. Neither part of the name
 * contains a dot.
 */
export const serverGroupName = (mark: ClusterMark, pool: string): string =>
  `${nameInCloud(mark)}.${pool}`;

const described = ({ description }: CloudObject): string | undefined =>
  /^(?:.+\. )?Part of cluster (\S+)$/.exec(description)?.[1];

/** Functions that read the cluster from objects that cannot have tags, or do not have them yet. */
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

/** Returns the mark in a name of {@link nameInCloud}; undefined for any other text. */
export function readNameInCloud(text: string | undefined): ClusterMark | undefined {
  const [, name, identity] = /^([a-z][a-z0-9-]*)-([0-9a-f]{12})$/.exec(text ?? "") ?? [];
  return name === undefined || identity === undefined ? undefined : { name, identity };
}

/** Returns the mark that the program itself put on an object. */
function ownMark(object: CloudObject): ClusterMark | undefined {
  const { kind, tags, metadata } = object;
  const tagged = (key: string): string | undefined =>
    tags.find((tag) => tag.startsWith(`${key}=`))?.slice(key.length + 1);
  const name = tagged(clusterNameKey) ?? metadata[clusterNameKey];
  const identity = tagged(identityKey) ?? metadata[identityKey] ?? "";
  return name === undefined ? readNameInCloud(inFirstMoment[kind]?.(object)) : { name, identity };
}

/** Returns the cluster in the metadata that Cinder CSI puts on volumes and snapshots. */
const ofCinder = ({ metadata }: CloudObject): string | undefined =>
  metadata["cinder.csi.openstack.org/cluster"];

/**
 * Functions that read the cluster from objects that the cloud controller manager and Cinder CSI
 * create.
 */
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

/** Returns the cluster that an object belongs to; undefined if it belongs to none. */
export function ownershipOf(object: CloudObject): Ownership | undefined {
  const own = ownMark(object);
  if (own) return { mark: own, claim: "marked by stackadm" };
  const controller = ofControllers[object.kind];
  const mark = readNameInCloud(controller?.cluster(object));
  return controller && mark ? { mark, claim: controller.claim } : undefined;
}
