/**
 * Providers, flavors and zones of load balancers, by their path in the specification:
 * `endpoint.provider`.
 */
export interface OctaviaChoices {
  /** Names of providers. */
  readonly providers: Readonly<Record<string, string>>;
  /** IDs of flavors. */
  readonly flavors: Readonly<Record<string, string>>;
  /** Names of zones. */
  readonly zones: Readonly<Record<string, string>>;
}

/** Requirements of a cluster that the preflight compares with the cloud. */
export interface ClusterNeeds {
  readonly cluster: string;
  /** Names or IDs of the machines' images. */
  readonly images: readonly string[];
  /**
   * Names or IDs of external networks, by their path in the specification. Empty: no floating IPs.
   */
  readonly externalNetworks: Readonly<Record<string, string>>;
  /** Name or ID of the machines' existing network. Undefined: the program creates one. */
  readonly network?: string;
  /** Subnet of that network: name or ID, if written, and range. @default not checked */
  readonly subnet?: { readonly reference?: string | undefined; readonly range: string };
  /**
   * Number of nodes, and the images that each pulls from Docker Hub without login. @default none
   */
  readonly dockerHub?: { readonly nodes: number; readonly images: readonly string[] };
  /**
   * Settings that need rights on ports which Neutron by default grants only to the network's
   * project.
   */
  readonly ownersOnly: readonly string[];
  /** Number of machines per flavor (name or ID). */
  readonly flavors: Readonly<Record<string, number>>;
  /** Flavors of machines that become nodes, which have a minimum size. */
  readonly nodeFlavors: readonly string[];
  /** Flavors of control planes. */
  readonly controlPlaneFlavors: readonly string[];
  /** Size checks for which kubeadm refuses a control plane. */
  readonly sizeChecks: readonly ("NumCPU" | "Mem")[];
  readonly volumeTypes: readonly string[];
  readonly zones: readonly string[];
  /** Nova zones that storage classes name for pods. */
  readonly podZones: readonly string[];
  /** Cinder zones that storage classes and volumes of machines name. */
  readonly volumeZones: readonly string[];
  /** Volumes without a zone of machines with a zone: path, name and the machine's zone. */
  readonly unplacedVolumes: readonly {
    readonly path: string;
    readonly name: string;
    readonly zone: string;
  }[];
  /** Sizes of the machines' volumes in GiB, by name. An existing volume keeps its size. */
  readonly volumeSizes: Readonly<Record<string, number>>;
  /** Whether volumes are created in the zones of the machines. */
  readonly volumesFollowZones: boolean;
  /** Choices for load balancers. Undefined: the cluster has no load balancers. */
  readonly octavia?: OctaviaChoices;
  /** Pod network that needs routes on the router. Undefined: none are needed. */
  readonly routes?: string | undefined;
  /**
   * Pod networks for hints: the default, and one whose encapsulated packets need no rights on
   * ports.
   */
  readonly otherPodNetworks: { readonly usual: string; readonly wrapped: string };
  /** Whether the program creates an application credential for the cluster. */
  readonly makesCredential: boolean;
  /** Roles of that credential. Undefined: those that the controllers are known to need. */
  readonly credentialRoles?: readonly string[] | undefined;
  /**
   * Path that names a Barbican certificate, which controllers let Octavia read. Undefined: none.
   */
  readonly certificate?: string | undefined;
  /** Expiry of the cluster's credential, as ISO 8601. Undefined: never, or unknown. */
  readonly credentialEnd?: string | undefined;
  /** Whether the API servers authenticate users by the cloud's own Keystone. */
  readonly asksKeystone: boolean;
  /** Whether the cluster's controllers verify the cloud's certificate. */
  readonly controllersVerify: boolean;
  /** Names of the cluster's objects; no other object in the project may have them. */
  readonly names: readonly {
    readonly kind: "server" | "network" | "router";
    readonly name: string;
  }[];
  /** Number of objects of each kind that the complete cluster has. */
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
