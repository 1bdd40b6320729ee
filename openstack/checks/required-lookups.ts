import { isPlaceholder } from "../../base/placeholders.js";
import type { PulumiOpenstackVersion } from "../../base/versions/pulumi-openstack-versions.js";

/** Names or IDs of objects that the program looks up in the cloud for a cluster. */
export interface RequiredLookups {
  /** Name of the cluster, to find its servers. @default no servers are looked up */
  readonly cluster?: string;
  /**
   * Machines that use the images and flavors. A name that only machines with existing servers use
   * need not exist in the cloud. @default every image and every flavor must exist
   */
  readonly machines?: readonly WantedMachine[];
  /** Version of Pulumi's OpenStack plugin for the lookups. @default defaultOpenstackPlugin */
  readonly openstackPlugin?: PulumiOpenstackVersion;
  readonly images: readonly string[];
  /** Name or ID of the external network. Undefined: the cluster has no floating IPs. */
  readonly externalNetwork?: string;
  readonly flavors: readonly string[];
  /** Existing network for the machines. Undefined: the program creates a network. */
  readonly network?: WantedNetwork;
  /** Network of the machines' second interfaces. Undefined: machines have one interface. */
  readonly admin?: WantedAdminNetwork;
  /**
   * Names or IDs of existing security groups for the machines, in addition to the security groups
   * that the program creates.
   * @default none
   */
  readonly securityGroups?: readonly string[];
  /**
   * Existing floating IPs for the cluster. The program creates the cluster's other floating IPs.
   * @default none
   */
  readonly floatingIps?: readonly WantedFloatingIp[];
  /**
   * Name or ID of the external network for the load balancers of Services. Undefined: these load
   * balancers use no separate external network.
   */
  readonly servicesExternalNetwork?: string;
}

/** Machine that needs an image and a flavor, each given by name or ID. */
export interface WantedMachine {
  /** Name of the server. */
  readonly name: string;
  readonly image: string;
  readonly flavor: string;
  /** Generation of the machine. A server with another generation is replaced. */
  readonly generation: number;
}

/** Existing network for the machines. Each object is given by name or ID. */
export interface WantedNetwork {
  readonly network: string;
  /** Subnet of the machines. Undefined: the subnet whose range is `nodes`. */
  readonly subnet?: string | undefined;
  /** Router of the network. Undefined: the router is not checked. */
  readonly router?: string | undefined;
  /** Address range of the machines. The subnet must have this range. */
  readonly nodes: string;
  /** Fixed addresses of machines. The gateway must have another address. @default none */
  readonly addresses?: readonly string[];
}

/** Network of the machines' second interfaces. Each object is given by name or ID. */
export interface WantedAdminNetwork {
  readonly network: string;
  /** Subnet of the network. Undefined: the network's only subnet. */
  readonly subnet?: string | undefined;
  /**
   * Address ranges that must not overlap the subnet's range. Keys are field names in the
   * specification's `network`.
   */
  readonly apart: Readonly<Record<string, string>>;
}

/** Floating IP that already exists in the project. */
export interface WantedFloatingIp {
  readonly address: string;
  /** Path in the specification, for example `endpoint.floatingIp`. */
  readonly path: string;
}

const isKnown = (reference: string | undefined): boolean =>
  reference === undefined || !isPlaceholder(reference);

/** Returns the lookups whose names and IDs are known before the run. */
export function withoutPlaceholders(wanted: RequiredLookups): RequiredLookups {
  const { externalNetwork, servicesExternalNetwork, network, admin, ...lists } = wanted;
  const { securityGroups, floatingIps } = wanted;
  return {
    ...lists,
    images: wanted.images.filter(isKnown),
    flavors: wanted.flavors.filter(isKnown),
    ...(securityGroups && { securityGroups: securityGroups.filter(isKnown) }),
    ...(floatingIps && { floatingIps: floatingIps.filter(({ address }) => isKnown(address)) }),
    ...(externalNetwork !== undefined && isKnown(externalNetwork) && { externalNetwork }),
    ...(servicesExternalNetwork !== undefined &&
      isKnown(servicesExternalNetwork) && { servicesExternalNetwork }),
    ...(network && [network.network, network.subnet, network.router].every(isKnown) && { network }),
    ...(admin && [admin.network, admin.subnet].every(isKnown) && { admin }),
  };
}
