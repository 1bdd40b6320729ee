import type { OpenstackPlugin } from "../../base/versions/openstack-plugin-versions.js";

/** Names or IDs of objects that the program looks up in the cloud for a cluster. */
export interface RequiredLookups {
  /** Name of the cluster whose servers are looked up. @default no servers are looked up */
  readonly cluster?: string;
  /** Version of Pulumi's OpenStack plugin for lookups. @default defaultOpenstackPlugin */
  readonly openstackPlugin?: OpenstackPlugin;
  readonly images: readonly string[];
  /** External network. Undefined: the cluster has no floating IPs. */
  readonly externalNetwork?: string;
  readonly flavors: readonly string[];
  /** Existing network of the machines. Undefined: the program creates a network. */
  readonly network?: WantedNetwork;
  /** Network of the machines' second interfaces. Undefined: machines have one interface. */
  readonly admin?: WantedAdminNetwork;
  /**
   * Existing security groups that the machines get in addition to the created groups. @default none
   */
  readonly securityGroups?: readonly string[];
  /** Existing floating IPs that the cluster uses in addition to the created ones. @default none */
  readonly floatingIps?: readonly WantedFloatingIp[];
  /**
   * External network of the load balancers of Services. Undefined: the load balancers have no
   * separate network.
   */
  readonly servicesExternalNetwork?: string;
}

/** Existing network. Each part is a name or an ID. */
export interface WantedNetwork {
  readonly network: string;
  /** Subnet of the machines. Undefined: the subnet with the range `nodes`. */
  readonly subnet?: string | undefined;
  /** Router of the network. Undefined: the router is not checked. */
  readonly router?: string | undefined;
  /** Range of the machines, which the subnet must have. */
  readonly nodes: string;
  /** Fixed addresses of machines. The gateway must have another address. @default none */
  readonly addresses?: readonly string[];
}

/** Network of the machines' second interfaces. Each part is a name or an ID. */
export interface WantedAdminNetwork {
  readonly network: string;
  /** Subnet of the admin network. Undefined: the network's only subnet. */
  readonly subnet?: string | undefined;
  /** Ranges that the subnet must not overlap, by field name in the specification's `network`. */
  readonly apart: Readonly<Record<string, string>>;
}

/** Floating IP that the project already has. */
export interface WantedFloatingIp {
  readonly address: string;
  /** Path in the specification, for example `endpoint.floatingIp`. */
  readonly path: string;
}
