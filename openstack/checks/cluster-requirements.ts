/**
 * Octavia providers, flavors and availability zones of the cluster's load balancers. Keys are paths
 * in the specification, for example `endpoint.provider`.
 */
export interface OctaviaRequirements {
  /** Names of Octavia providers. */
  readonly providers: Readonly<Record<string, string>>;
  /** IDs of Octavia flavors. */
  readonly flavors: Readonly<Record<string, string>>;
  /** Names of Octavia availability zones. */
  readonly zones: Readonly<Record<string, string>>;
}

/** Requirements of a cluster, which the preflight compares with the cloud. */
export interface ClusterRequirements {
  readonly cluster: string;
  /** Names or IDs of the machines' images. */
  readonly images: readonly string[];
  /**
   * Names or IDs of external networks. Keys are paths in the specification. Empty: the cluster has
   * no floating IPs.
   */
  readonly externalNetworks: Readonly<Record<string, string>>;
  /**
   * Name or ID of the existing network for the machines. Undefined: the program creates a network.
   */
  readonly network?: string;
  /**
   * Subnet of the existing network: its range, and its name or ID if the specification contains
   * one.
   * @default the subnet is not checked
   */
  readonly subnet?: { readonly reference?: string | undefined; readonly range: string };
  /**
   * Number of nodes, and the images that every node pulls from Docker Hub without a login.
   * @default no images
   */
  readonly dockerHub?: { readonly nodes: number; readonly images: readonly string[] };
  /**
   * Settings that need special permissions on ports. By default, Neutron grants these permissions
   * only to the project that owns the network.
   */
  readonly ownersOnly: readonly string[];
  /** Number of machines for each flavor. Keys are names or IDs of flavors. */
  readonly flavors: Readonly<Record<string, number>>;
  /** Flavors of machines that become Kubernetes nodes. kubeadm requires a minimum size. */
  readonly nodeFlavors: readonly string[];
  readonly controlPlaneFlavors: readonly string[];
  /**
   * Size checks of kubeadm's preflight that the specification does not ignore. These checks fail on
   * a control plane with too few CPUs or too little memory.
   */
  readonly sizeChecks: readonly ("NumCPU" | "Mem")[];
  readonly volumeTypes: readonly string[];
  readonly zones: readonly string[];
  /** Nova zones in storage classes. Pods that use volumes of such a class run in these zones. */
  readonly podZones: readonly string[];
  /** Cinder zones in storage classes and in the volumes of machines. */
  readonly volumeZones: readonly string[];
  /**
   * Machine volumes without a Cinder zone in the specification whose machine has a Nova zone. Each
   * element has the path in the specification, the volume's name and the machine's zone.
   */
  readonly unplacedVolumes: readonly {
    readonly path: string;
    readonly name: string;
    readonly zone: string;
  }[];
  /**
   * Size of each machine volume in GiB, by the volume's name. The program does not resize existing
   * volumes.
   */
  readonly volumeSizes: Readonly<Record<string, number>>;
  /** Whether Cinder CSI creates a volume in the zone of the machine that uses the volume. */
  readonly volumesFollowZones: boolean;
  /** Octavia providers, flavors and zones. Undefined: the cluster has no load balancers. */
  readonly octavia?: OctaviaRequirements;
  /** Name of the pod network, if it needs routes on the OpenStack router. Undefined: no routes. */
  readonly routes?: string | undefined;
  /**
   * Pod networks that messages recommend as alternatives. `usual` is the default. `wrapped`
   * encapsulates packets, so it needs no special permissions on ports.
   */
  readonly suggestedPodNetworks: { readonly usual: string; readonly wrapped: string };
  /** Whether the program creates an application credential for the cluster. */
  readonly makesCredential: boolean;
  /** Roles of the application credential. Undefined: the user's roles that the controllers need. */
  readonly credentialRoles?: readonly string[] | undefined;
  /**
   * Path of the setting that names a TLS certificate in Barbican. Octavia can read the certificate
   * only after the cloud controller has given access. Undefined: no certificate is used.
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
   * Names of the cluster's objects. No other object of the same kind in the project may have one of
   * these names.
   */
  readonly names: readonly {
    readonly kind: "server" | "network" | "router";
    readonly name: string;
  }[];
  /** Number of objects of each kind in the complete cluster. */
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
