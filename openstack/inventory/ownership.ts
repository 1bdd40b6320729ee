import type { CloudObject, CloudObjectKind } from "./inventory.js";

/**
 * Evidence that an object belongs to a cluster. The program never changes an object without
 * evidence.
 */
export type OwnershipEvidence =
  | "marked by stackadm"
  | "load balancer of a Service"
  | "floating IP of a Service"
  | "security group of a Service"
  | "volume of a PersistentVolume"
  | "snapshot of a PersistentVolume";

/**
 * Cluster name and identity, which mark the cluster's objects in OpenStack. The name is only for
 * users, because two clusters may have the same name. Only the identity proves ownership. The
 * identity is a random value in the cluster's state.
 */
export interface ClusterMark {
  readonly name: string;
  /** Identity: 12 hexadecimal digits. */
  readonly identity: string;
}

/** Returns whether the text is a complete identity. */
export const isIdentity = (text: string): boolean => /^[0-9a-f]{12}$/.test(text);

/**
 * Returns whether objects of the kind contain data. If a user copies such an object, the copy has
 * the same mark. An object with data must therefore not be deleted only because of its mark.
 */
export const hasData = ({ kind }: { readonly kind: CloudObjectKind }): boolean =>
  kind === "volume" || kind === "volume snapshot";

/** Cluster to which an object belongs, and the evidence. */
export interface Ownership {
  readonly mark: ClusterMark;
  readonly claim: OwnershipEvidence;
  /**
   * Whether a destroy has kept the object because the program keeps it (`retainOnDelete`). Absent:
   * no destroy has marked the object as kept.
   */
  readonly kept?: true;
}

/**
 * Key of the tag or metadata with which a destroy marks an object that it keeps. Only this mark
 * shows the reason after the destroy, because the state no longer exists.
 */
export const keptKey = "stackadm-kept";
export const keptTag = `${keptKey}=retained`;

const isMarkedAsKept = ({ tags, metadata }: CloudObject): boolean =>
  tags.includes(keptTag) || metadata[keptKey] !== undefined;

/** Key of the cluster's name in tags and metadata. */
export const clusterNameKey = "stackadm-cluster";
export const identityKey = "stackadm-identity";
/** Metadata key of the generation for which a server was created. */
export const generationMetadataKey = "stackadm-generation";

/** Returns the tags that mark the cluster's objects in Neutron. */
export const getClusterTags = ({ name, identity }: ClusterMark): string[] => [
  `${clusterNameKey}=${name}`,
  `${identityKey}=${identity}`,
];

/** Returns the metadata that mark the cluster's servers in Nova. */
export const getClusterMetadata = ({ name, identity }: ClusterMark): Record<string, string> => ({
  [clusterNameKey]: name,
  [identityKey]: identity,
});

/**
 * Returns the cluster name in the configuration of the cluster's controllers. This name is unique
 * in the project, even if two clusters have the same name. The controllers write this name into the
 * names of load balancers, the descriptions of floating IPs and the metadata of volumes.
 */
export const getNameInCloud = ({ name, identity }: ClusterMark): string => `${name}-${identity}`;

const credentialPrefix = "Cloud controller manager and Cinder CSI of cluster ";

/**
 * Returns the description that marks an application credential. An application credential can have
 * neither tags nor metadata.
 */
export const getCredentialDescription = (mark: ClusterMark): string =>
  `${credentialPrefix}${getNameInCloud(mark)}`;

/**
 * Returns the description that marks an object in Neutron. An object has its description from its
 * creation, but the provider adds tags in a second request.
 */
export const getClusterDescription = (mark: ClusterMark, what?: string): string =>
  `${what === undefined ? "" : `${what}. `}Part of cluster ${getNameInCloud(mark)}`;

/**
 * Returns the name of a server group. The name is the only mark, because Nova stores no tags for
 * server groups. The name contains exactly one dot.
 */
export const getServerGroupName = (mark: ClusterMark, pool: string): string =>
  `${getNameInCloud(mark)}.${pool}`;

const described = ({ description }: CloudObject): string | undefined =>
  /^(?:.+\. )?Part of cluster (\S+)$/.exec(description)?.[1];

/**
 * Functions that find the cluster in an object's description or name. Used for objects that cannot
 * have tags, and for objects whose tags are not added yet.
 */
const clusterFromDescriptionOrName: Readonly<
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

/** Returns the mark in a result of {@link getNameInCloud}. Returns undefined for any other text. */
export function parseNameInCloud(text: string | undefined): ClusterMark | undefined {
  const [, name, identity] = /^([a-z][a-z0-9-]*)-([0-9a-f]{12})$/.exec(text ?? "") ?? [];
  return name === undefined || identity === undefined ? undefined : { name, identity };
}

/**
 * Returns the mark that this program put on the object. Returns undefined if there is no such mark.
 */
function ownMark(object: CloudObject): ClusterMark | undefined {
  const { kind, tags, metadata } = object;
  const tagged = (key: string): string | undefined =>
    tags.find((tag) => tag.startsWith(`${key}=`))?.slice(key.length + 1);
  const name = tagged(clusterNameKey) ?? metadata[clusterNameKey];
  const identity = tagged(identityKey) ?? metadata[identityKey];
  // A name without an identity proves nothing, because two clusters may have the same name.
  return name !== undefined && identity !== undefined && isIdentity(identity)
    ? { name, identity }
    : parseNameInCloud(clusterFromDescriptionOrName[kind]?.(object));
}

/** Returns the cluster in the metadata that Cinder CSI writes to volumes and snapshots. */
const ofCinder = ({ metadata }: CloudObject): string | undefined =>
  metadata["cinder.csi.openstack.org/cluster"];

/**
 * Functions that return the cluster of an object that the cloud controller manager or Cinder CSI
 * created.
 */
const ofControllers: Readonly<
  Partial<
    Record<
      CloudObject["kind"],
      {
        readonly claim: OwnershipEvidence;
        readonly cluster: (object: CloudObject) => string | undefined;
      }
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

/**
 * Returns the cluster to which an object belongs, and the evidence. Returns undefined if the object
 * belongs to no cluster.
 */
export function getOwnership(object: CloudObject): Ownership | undefined {
  const own = ownMark(object);
  const kept = isMarkedAsKept(object) && { kept: true as const };
  if (own) return { mark: own, claim: "marked by stackadm", ...kept };
  const controller = ofControllers[object.kind];
  const mark = parseNameInCloud(controller?.cluster(object));
  return controller && mark ? { mark, claim: controller.claim, ...kept } : undefined;
}
