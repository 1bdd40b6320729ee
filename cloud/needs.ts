/** What load balancers are asked for with, by where it is written: `endpoint.provider`. */
export interface OctaviaChoices {
  /** By name. */
  readonly providers: Readonly<Record<string, string>>;
  /** By ID. */
  readonly flavors: Readonly<Record<string, string>>;
  /** By name. */
  readonly zones: Readonly<Record<string, string>>;
}

/** What a cluster is going to ask of its cloud: the plan side of the preflight. */
export interface ClusterNeeds {
  readonly cluster: string;
  /** Name or ID of the image of the machines. */
  readonly images: readonly string[];
  /** Names or IDs of external networks, by their path in the specification. None: there are no floating IPs. */
  readonly externalNetworks: Readonly<Record<string, string>>;
  /** Name or ID of the network that the machines are put into. Absent: one is made. */
  readonly network?: string;
  /** The subnet of that network: its name or ID, if that is written, and its range. @default nobody looks for one */
  readonly subnet?: { readonly reference?: string | undefined; readonly range: string };
  /** How many nodes each pull which images from Docker Hub without a sign-in. @default none does */
  readonly dockerHub?: { readonly nodes: number; readonly images: readonly string[] };
  /** What of the specification needs rights on its ports that Neutron, as it comes, leaves to the network's own project. */
  readonly ownersOnly: readonly string[];
  /** Machines per flavor (name or ID). */
  readonly flavors: Readonly<Record<string, number>>;
  /** Those of them that have to carry a node, for which there is a size that is too small. */
  readonly nodeFlavors: readonly string[];
  /** Those of them that have to carry a control plane. */
  readonly controlPlaneFlavors: readonly string[];
  /** Checks of its size for which kubeadm refuses a control plane. */
  readonly sizeChecks: readonly ("NumCPU" | "Mem")[];
  readonly volumeTypes: readonly string[];
  readonly zones: readonly string[];
  /** Zones of Nova that storage classes name for pods. */
  readonly podZones: readonly string[];
  /** Zones of Cinder that storage classes and volumes of machines name. */
  readonly volumeZones: readonly string[];
  /** Volumes of machines in a zone that name none themselves: where they are written, their names and the machines' zones. */
  readonly unplacedVolumes: readonly {
    readonly path: string;
    readonly name: string;
    readonly zone: string;
  }[];
  /** GiB of the machines' volumes, by their names. One that is there keeps its own until it is created again. */
  readonly volumeSizes: Readonly<Record<string, number>>;
  /** Whether volumes are made in the zones of the machines. */
  readonly volumesFollowZones: boolean;
  /** Absent: the cluster has no load balancers. */
  readonly octavia?: OctaviaChoices;
  /** The pod network for which the router gets routes to the machines' pods. Undefined: it gets none. */
  readonly routes?: string | undefined;
  /** Pod networks that a hint may name: the usual one, and one whose packets need no right on a port. */
  readonly otherPodNetworks: { readonly usual: string; readonly wrapped: string };
  /** Whether an application credential has to be made for the cluster. */
  readonly makesCredential: boolean;
  /** Its roles. Undefined: those that are known to be enough. */
  readonly credentialRoles?: readonly string[] | undefined;
  /** Where a certificate in Barbican is named, which the cluster's controllers let Octavia read. Undefined: nowhere. */
  readonly certificate?: string | undefined;
  /** When the cluster's credential ends, as ISO 8601. Undefined: never, as far as one is told. */
  readonly credentialEnd?: string | undefined;
  /** Whether its API servers ask the cloud's own Keystone about users. */
  readonly asksKeystone: boolean;
  /** Whether the cluster's controllers look at the cloud's certificate. */
  readonly controllersVerify: boolean;
  /** Names the cluster will use; nothing else in the project may carry them. */
  readonly names: readonly {
    readonly kind: "server" | "network" | "router";
    readonly name: string;
  }[];
  /** How many of each the cluster will hold when it is complete. */
  readonly counts: Readonly<Record<CountedResource, number>>;
}

export const countedResources = [
  "networks",
  "subnets",
  "routers",
  "ports",
  "floating IPs",
  "security groups",
  "security group rules",
  "volumes",
  "volume gigabytes",
  "load balancers",
  "server groups",
] as const;
export type CountedResource = (typeof countedResources)[number];
