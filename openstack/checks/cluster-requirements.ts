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

/** Volume that the program creates for a machine. */
export interface VolumeRequirement {
  /** Path in the specification, for example `workers.general.runtimeVolume`. */
  readonly path: string;
  readonly name: string;
  /** Size in GiB. */
  readonly size: number;
  /** Name or ID of the volume type. Undefined: Cinder's default type. */
  readonly type?: string | undefined;
  /** Cinder zone. Undefined: Cinder chooses. */
  readonly zone?: string | undefined;
  /** Whether the machine boots from the volume. */
  readonly boots: boolean;
}

/** Machine of the cluster, with everything that its server needs from the cloud. */
export interface MachineRequirement {
  /** Name of the server. */
  readonly name: string;
  /** Paths in the specification: of the machine group, and of the settings of this machine. */
  readonly paths: {
    readonly group: string;
    readonly flavor: string;
    readonly image: string;
    readonly zone: string;
  };
  /** Name or ID of the flavor. */
  readonly flavor: string;
  /** Name or ID of the image. */
  readonly image: string;
  /** Availability zone in Nova. Undefined: Nova chooses. */
  readonly zone?: string | undefined;
  /** Generation of the machine. A server with another generation is replaced. */
  readonly generation: number;
  /**
   * Whether kubeadm's minimum size applies. kubeadm refuses a smaller control plane (`required`). A
   * smaller worker is slow (`advised`). Machines without kubeadm have no minimum size (`none`).
   */
  readonly kubeadmSize: "required" | "advised" | "none";
  /** Whether the machine is in the server group of its machine group. */
  readonly grouped: boolean;
  /** Names of the machine's ports. */
  readonly ports: readonly string[];
  readonly volumes: readonly VolumeRequirement[];
}

/** Extension of Neutron that a setting needs. */
export interface NeutronExtension {
  /** Names of the extension in Neutron. One of them is sufficient. */
  readonly aliases: readonly [string, ...string[]];
  /** Path of the setting, and what needs the extension. */
  readonly reason: string;
  /** Setting to write instead, or the request to the cloud's operator. */
  readonly instead: string;
}

/** Requirements of a cluster, which the preflight compares with the cloud. */
export interface ClusterRequirements {
  readonly cluster: string;
  /** Version of Pulumi's OpenStack plugin. */
  readonly openstackPlugin: string;
  readonly machines: readonly MachineRequirement[];
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
  /**
   * Size checks of kubeadm's preflight that the specification does not ignore. These checks fail on
   * a control plane with too few CPUs or too little memory.
   */
  readonly sizeChecks: readonly ("NumCPU" | "Mem")[];
  /** Volume types in storage classes. */
  readonly volumeTypes: readonly string[];
  /** Zones in the specification's `zones` in which no machine is planned. */
  readonly spareZones: readonly string[];
  /** Nova zones in storage classes. Pods that use volumes of such a class run in these zones. */
  readonly podZones: readonly string[];
  /** Cinder zones in storage classes. */
  readonly volumeZones: readonly string[];
  /** Whether Cinder CSI creates a volume in the zone of the machine that uses the volume. */
  readonly volumesFollowZones: boolean;
  /** Octavia providers, flavors and zones. Undefined: the cluster has no load balancers. */
  readonly octavia?: OctaviaRequirements;
  /** Whether Neutron filters the traffic of the machines' ports. */
  readonly filtersPorts: boolean;
  /** Extensions of Neutron that the program uses when it creates objects. */
  readonly extensions: readonly NeutronExtension[];
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
  "listeners",
  "pools",
  "members",
  "health monitors",
  "server groups",
] as const;
export type CountedResource = (typeof countedResources)[number];

/** Part of a load balancer for which Octavia has a quota. */
export type BalancerPart = Extract<
  CountedResource,
  "listeners" | "pools" | "members" | "health monitors"
>;
