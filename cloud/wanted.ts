/** What a cluster needs to find in the cloud, each by name or by ID. */
export interface Wanted {
  /** Whose servers are looked for. @default nobody's */
  readonly cluster?: string;
  /** Version of Pulumi's OpenStack plugin that asks. @default the one that the program chooses */
  readonly openstackPlugin?: string;
  readonly images: readonly string[];
  /** Absent: no floating IPs. */
  readonly externalNetwork?: string;
  readonly flavors: readonly string[];
  /** Absent: a network is made. */
  readonly network?: WantedNetwork;
  /** Absent: machines have one interface. */
  readonly admin?: WantedAdminNetwork;
  /** That exist, besides those that are made. @default none */
  readonly securityGroups?: readonly string[];
  /** That exist, besides those that are made. @default none */
  readonly floatingIps?: readonly WantedFloatingIp[];
  /** External network of the services, where they have a network of their own. */
  readonly servicesExternalNetwork?: string;
}

/** A network that is there already, each part by name or ID. */
export interface WantedNetwork {
  readonly network: string;
  /** Absent: the one with the range of the machines. */
  readonly subnet?: string | undefined;
  /** Absent: nobody looks whether there is a way out. */
  readonly router?: string | undefined;
  /** The machines' range; the subnet has to have it. */
  readonly nodes: string;
  /** Addresses that are written for machines; none may be the gateway's. @default none */
  readonly addresses?: readonly string[];
}

/** The network of second interfaces, each part by name or ID. */
export interface WantedAdminNetwork {
  readonly network: string;
  /** Absent: the only one. */
  readonly subnet?: string | undefined;
  /** Ranges that its own must not overlap, by their name in `network`. */
  readonly apart: Readonly<Record<string, string>>;
}

/** A floating IP that the project has already. */
export interface WantedFloatingIp {
  readonly address: string;
  /** Where it is written, like `endpoint.floatingIp`. */
  readonly path: string;
}
