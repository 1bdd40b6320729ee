import type { OpenstackPlugin } from "../base/openstack-plugins.js";

/** Names or IDs that a cluster looks up in the cloud. */
export interface Wanted {
  /** Cluster whose servers are looked up. @default none are */
  readonly cluster?: string;
  /** Version of Pulumi's OpenStack plugin for lookups. @default defaultOpenstackPlugin */
  readonly openstackPlugin?: OpenstackPlugin;
  readonly images: readonly string[];
  /** External network. Undefined: no floating IPs. */
  readonly externalNetwork?: string;
  readonly flavors: readonly string[];
  /** Existing network of the machines. Undefined: the program creates one. */
  readonly network?: WantedNetwork;
  /** Network of the second interfaces. Undefined: machines have one interface. */
  readonly admin?: WantedAdminNetwork;
  /** Existing security groups, in addition to those that are created. @default none */
  readonly securityGroups?: readonly string[];
  /** Existing floating IPs, in addition to those that are created. @default none */
  readonly floatingIps?: readonly WantedFloatingIp[];
  /** External network of the load balancers, if they have a separate network. */
  readonly servicesExternalNetwork?: string;
}

/** Existing network, each part by name or ID. */
export interface WantedNetwork {
  readonly network: string;
  /** Subnet of the machines. Undefined: the one with the range `nodes`. */
  readonly subnet?: string | undefined;
  /** Router of the network. Undefined: not checked. */
  readonly router?: string | undefined;
  /** Range of the machines, which the subnet must have. */
  readonly nodes: string;
  /** Fixed addresses of machines; none may be the gateway's. @default none */
  readonly addresses?: readonly string[];
}

/** Network of the second interfaces, each part by name or ID. */
export interface WantedAdminNetwork {
  readonly network: string;
  /** Subnet of the admin network. Undefined: the network's only subnet. */
  readonly subnet?: string | undefined;
  /** Ranges that the subnet must not overlap, by their name in `network`. */
  readonly apart: Readonly<Record<string, string>>;
}

/** Floating IP that the project already has. */
export interface WantedFloatingIp {
  readonly address: string;
  /** Path in the specification, like `endpoint.floatingIp`. */
  readonly path: string;
}
