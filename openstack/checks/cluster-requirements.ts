/**
 * Octavia providers, flavors and availability zones of load balancers. Keys are paths in the
 * specification: `endpoint.provider`.
 */
export interface OctaviaChoices {
  /** Names of Octavia providers. */
  readonly providers: Readonly<Record<string, string>>;
  /** IDs of Octavia flavors. */
  readonly flavors: Readonly<Record<string, string>>;
  /** Names of Octavia availability zones. */
  readonly zones: Readonly<Record<string, string>>;
}

/** Requirements of a cluster that the preflight compares with the cloud. */
export interface ClusterNeeds {
  readonly cluster: string;
  /** Names or IDs of the machines' images. */
  readonly images: readonly string[];
  /**
   * Names or IDs of external networks, by path in the specification. Empty: the cluster has no
   * floating IPs.
   */
  readonly externalNetworks: Readonly<Record<string, string>>;
  /** Name or ID of the machines' existing network. Undefined: the program creates a network. */
  readonly network?: string;
  /**
   * Subnet of the existing network: the range, and the name or ID if the specification has one.
   * @default the subnet is not checked
   */
  readonly subnet?: { readonly reference?: string | undefined; readonly range: string };
  /**
   * Number of nodes, and the images that each node pulls from Docker Hub without login. @default no
   * images
   */
  readonly dockerHub?: { readonly nodes: number; readonly images: readonly string[] };
  /**
   * Settings that need permissions on ports which Neutron by default grants only to the project
   * that owns the network.
   */
  readonly ownersOnly: readonly string[];
  /** Number of machines per flavor (name or ID). */
  readonly flavors: Readonly<Record<string, number>>;
  /** Flavors of machines that become Kubernetes nodes. kubeadm demands a minimum size. */
  readonly nodeFlavors: readonly string[];
  /** Flavors of control planes. */
  readonly controlPlaneFlavors: readonly string[];
  /**
   * Checks of kubeadm's preflight that fail for a control plane with too few CPUs or too little
   * memory.
   */
  readonly sizeChecks: readonly ("NumCPU" | "Mem")[];
  readonly volumeTypes: readonly string[];
  readonly zones: readonly string[];
  /** Nova zones that storage classes name: pods with such volumes run in these zones. */
  readonly podZones: readonly string[];
  /** Cinder zones that storage classes and volumes of machines name. */
  readonly volumeZones: readonly string[];
  /**
   * Volumes without a zone, of machines with a zone: path in the specification, name of the volume
   * and zone of the machine.
   */
  readonly unplacedVolumes: readonly {
    readonly path: string;
    readonly name: string;
    readonly zone: string;
  }[];
  /**
   * Sizes of the machines' volumes in GiB, by name of the volume. An existing volume keeps its
   * size.
   */
  readonly volumeSizes: Readonly<Record<string, number>>;
  /** Whether Cinder CSI creates volumes in the zones of the machines that use the volumes. */
  readonly volumesFollowZones: boolean;
  /** Octavia providers, flavors and zones. Undefined: the cluster has no load balancers. */
  readonly octavia?: OctaviaChoices;
  /** Name of the pod network that needs routes on the router. Undefined: no routes are needed. */
  readonly routes?: string | undefined;
  /**
   * Pod networks that hints recommend: the default pod network, and a pod network that encapsulates
   * packets and so needs no permissions on ports.
   */
  readonly otherPodNetworks: { readonly usual: string; readonly wrapped: string };
  /** Whether the program creates an application credential for the cluster. */
  readonly makesCredential: boolean;
  /** Roles of the application credential. Undefined: the user's roles that the controllers need. */
  readonly credentialRoles?: readonly string[] | undefined;
  /**
   * Path in the specification that names a Barbican certificate. The cloud controller lets Octavia
   * read the certificate. Undefined: the cluster has no certificate.
   */
  readonly certificate?: string | undefined;
  /**
   * Expiry of the cluster's credential, as ISO 8601. Undefined: the credential never expires, or
   * the expiry is unknown.
   */
  readonly credentialEnd?: string | undefined;
  /** Whether the API servers authenticate users with the cloud's Keystone. */
  readonly asksKeystone: boolean;
  /** Whether the cluster's controllers verify the TLS certificate of the cloud's APIs. */
  readonly controllersVerify: boolean;
  /**
   * Names of the cluster's objects. No other object of the same kind in the project may have these
   * names.
   */
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
