import * as openstack from "@pulumi/openstack";
import type * as pulumi from "@pulumi/pulumi";
import { Address4 } from "ip-address";
import {
  getClusterDescriptionOutput,
  getClusterTagsOutput,
  type ClusterMarkInput,
} from "../identity/resource-tags.js";
import { Component } from "../pulumi/component.js";
import { mapResolved } from "../pulumi/placeholders.js";
import { getIpv6SubnetName } from "../plan/object-names.js";
import type { Ipv6Spec } from "../config/network/ipv6.js";
import type { FoundNetwork, RouterAddress } from "../lookup/existing-network.js";
import { listFreeAddressRanges } from "../../base/ip-addresses.js";
import type { ExternalConnection } from "./floating-ip-component.js";

export interface NetworkArgs {
  readonly mark: ClusterMarkInput;
  /** Name of the network, the subnet and the router. */
  readonly name: string;
  /** IPv4 CIDR of the machines. */
  readonly nodes: string;
  readonly dns: readonly string[];
  /**
   * Whether the cloud controller adds routes to the router. The routes are then deleted together
   * with the router interface.
   */
  readonly routesOfCloud: boolean;
  /** Addresses in `nodes` that Neutron must not assign to a port unless the port requests them. */
  readonly reserved: readonly string[];
  /** Whether Neutron filters traffic at the ports of the network. */
  readonly portSecurity: boolean;
  /** MTU in bytes. @default the MTU that Neutron chooses */
  readonly mtu?: number | undefined;
  readonly externalNetwork?: ExternalConnection["externalNetwork"];
  /** IPv6 subnet. @default none */
  readonly ipv6?: Ipv6Spec;
  /**
   * Existing network. The program does not change it.
   * @default the program creates a network, a subnet and a router
   */
  readonly existing?: pulumi.Output<FoundNetwork> | undefined;
  /**
   * Separate network for load balancers of Services.
   * @default load balancers are in the machines' network
   */
  readonly ofServices?: ServicesNetworkSettings | undefined;
}

/** Settings of the separate network for load balancers of Services. */
export interface ServicesNetworkSettings {
  /** Name of the network, the subnet and the router. */
  readonly name: string;
  readonly range: string;
  /**
   * External network from which Services get floating IPs. The router of the separate network is
   * connected to this external network. Otherwise Neutron could not assign these floating IPs to
   * ports in the separate network.
   */
  readonly externalNetwork: NonNullable<ExternalConnection["externalNetwork"]>;
}

/** IPv6 subnet of the machines, and the CIDRs of machines and pods. */
export interface MachinesIpv6 {
  readonly subnetId: pulumi.Input<string>;
  /** CIDR of the subnet. */
  readonly nodes: string;
  readonly pods: string;
}

/**
 * Network of the machines: a new network with a router to the external network, or an existing
 * network.
 */
export class Network extends Component {
  static readonly type = "stackadm:network:Network";
  readonly networkId: pulumi.Output<string>;
  readonly subnetId: pulumi.Output<string>;
  /** IPv6 subnet of the machines. Undefined without IPv6. */
  readonly ipv6: MachinesIpv6 | undefined;
  /**
   * ID of the router. Undefined if the network exists already and the specification names no
   * router.
   */
  readonly routerId: pulumi.Output<string | undefined>;
  /**
   * External addresses of the router. Connections from machines without a floating IP to hosts
   * outside come from these addresses. Undefined if the specification names no router.
   */
  readonly routerAddresses: pulumi.Output<readonly RouterAddress[] | undefined>;
  /** MTU of the network in bytes, as reported by Neutron. */
  readonly mtu: pulumi.Output<number>;
  readonly outside: ExternalConnection;
  /**
   * ID of the subnet. Known only after the subnet is connected to the router. Resources that use
   * floating IPs take this ID. Pulumi therefore creates these resources after the connection, and
   * deletes them before the connection is removed.
   */
  readonly routedSubnetId: pulumi.Output<string>;
  /**
   * Separate network for load balancers of Services. Undefined if load balancers are in this
   * network.
   */
  readonly ofServices: Network | undefined;

  constructor(name: string, args: NetworkArgs, opts?: pulumi.ComponentResourceOptions) {
    super(Network.type, name, opts);
    const { mark, externalNetwork, existing, ofServices } = args;
    const found = existing === undefined ? this.create(args) : adopt(existing);
    this.networkId = found.networkId;
    this.subnetId = found.subnetId;
    this.ipv6 = found.ipv6;
    this.routerId = found.routerId;
    this.routerAddresses = found.routerAddresses;
    this.mtu = found.mtu;
    const { routerInterface } = found;
    this.routedSubnetId = routerInterface?.subnetId ?? found.subnetId;
    this.ofServices = ofServices && this.make(Network, "services", servicesArgs(mark, ofServices));
    this.outside = {
      mark,
      ...(externalNetwork && { externalNetwork }),
      ...(routerInterface && { routerInterface }),
    };
    this.registerOutputs({ networkId: this.networkId, subnetId: this.subnetId, mtu: this.mtu });
  }

  private create(args: NetworkArgs): Place {
    const marks = {
      description: getClusterDescriptionOutput(args.mark),
      tags: getClusterTagsOutput(args.mark),
    };
    const network = this.make(
      openstack.networking.Network,
      "network",
      {
        name: args.name,
        adminStateUp: true,
        // In some clouds, new networks have no port security by default. Neutron then refuses ports
        // with security groups.
        ...(args.portSecurity && { portSecurityEnabled: true }),
        ...(args.mtu !== undefined && { mtu: args.mtu }),
        ...marks,
      },
      // Neutron refuses a change in a cloud without the extension for port security.
      { ignoreChanges: ["portSecurityEnabled"] },
    );
    const subnet = this.makeSubnet("subnet", network, {
      name: args.name,
      networkId: network.id,
      cidr: args.nodes,
      ipVersion: 4,
      dnsNameservers: mapResolved(args.dns, (all) =>
        all.filter((one) => !args.ipv6 || Address4.isValid(one)),
      ),
      ...(args.reserved.length > 0 && {
        allocationPools: [...listFreeAddressRanges(args.nodes, args.reserved)],
      }),
      ...marks,
    });
    const router = this.make(openstack.networking.Router, "router", {
      name: args.name,
      adminStateUp: true,
      ...(args.externalNetwork && { externalNetworkId: args.externalNetwork.id }),
      ...marks,
    });
    const routerInterface = this.make(openstack.networking.RouterInterface, "router-interface", {
      routerId: router.id,
      subnetId: subnet.id,
      // Neutron refuses to delete a router interface that routes use. With `forceDestroy`, the
      // provider deletes the routes first.
      ...(args.routesOfCloud && { forceDestroy: true }),
    });
    return {
      networkId: network.id,
      subnetId: subnet.id,
      routerId: router.id,
      routerAddresses: router.externalFixedIps,
      mtu: network.mtu,
      routerInterface,
      ...(args.ipv6 && {
        ipv6: this.createIpv6(args, args.ipv6, { network, router, routerInterface }),
      }),
    };
  }

  /**
   * Creates a subnet that is deleted together with the network, by one request to Neutron. The
   * provider would wait 8 s for each subnet, and longer while the subnet contains a port of another
   * user. Neutron immediately refuses to delete a network with such a port. A subnet that is
   * replaced or removed alone is deleted as usual.
   *
   * If a destroy stops before it deletes the network, the state no longer contains the subnet. The
   * next destroy deletes network and subnet. An `up` names the subnet (lookup/forgotten-subnet.ts).
   */
  private makeSubnet(
    role: string,
    network: openstack.networking.Network,
    args: openstack.networking.SubnetArgs,
  ): openstack.networking.Subnet {
    return this.make(openstack.networking.Subnet, role, args, { deletedWith: network });
  }

  /**
   * Creates the IPv6 subnet and connects it to the router. The returned subnet ID comes from the
   * router interface, so that machines boot only after the connection. Machines ask the router for
   * their addresses when they boot.
   */
  private createIpv6(
    args: NetworkArgs,
    { nodes, mode, pods }: NonNullable<Ipv6Spec>,
    {
      network,
      router,
      routerInterface,
    }: Readonly<Record<"router" | "routerInterface", pulumi.CustomResource>> & {
      readonly network: openstack.networking.Network;
    },
  ): MachinesIpv6 {
    const subnet = this.makeSubnet("ipv6-subnet", network, {
      name: getIpv6SubnetName(args.name),
      networkId: network.id,
      cidr: nodes,
      ipVersion: 6,
      ipv6AddressMode: mode,
      ipv6RaMode: mode,
      dnsNameservers: mapResolved(args.dns, (all) => all.filter((one) => !Address4.isValid(one))),
      description: getClusterDescriptionOutput(args.mark),
      tags: getClusterTagsOutput(args.mark),
    });
    const { subnetId } = this.make(
      openstack.networking.RouterInterface,
      "ipv6-router-interface",
      { routerId: router.id, subnetId: subnet.id },
      // The two interfaces must not be added to the router at the same time.
      { dependsOn: [routerInterface] },
    );
    return { subnetId, nodes, pods };
  }
}

type Place = { readonly [Key in "networkId" | "subnetId"]: pulumi.Output<string> } & {
  readonly routerId: pulumi.Output<string | undefined>;
  readonly routerAddresses: pulumi.Output<readonly RouterAddress[] | undefined>;
  readonly mtu: pulumi.Output<number>;
  readonly ipv6?: MachinesIpv6;
  readonly routerInterface?: openstack.networking.RouterInterface;
};

/**
 * Returns the arguments of the separate network for load balancers of Services. Only load balancers
 * connect this network to the machines' network.
 */
const servicesArgs = (
  mark: ClusterMarkInput,
  { name, range, externalNetwork }: ServicesNetworkSettings,
): NetworkArgs => ({
  mark,
  name,
  nodes: range,
  externalNetwork,
  dns: [],
  reserved: [],
  portSecurity: true,
  routesOfCloud: false,
});

function adopt(found: pulumi.Output<FoundNetwork>): Place {
  return {
    networkId: found.networkId,
    subnetId: found.subnetId,
    routerId: found.apply(({ routerId }) => routerId),
    routerAddresses: found.apply(({ routerAddresses }) => routerAddresses),
    mtu: found.mtu,
  };
}
