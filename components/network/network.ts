import * as openstack from "@pulumi/openstack";
import type * as pulumi from "@pulumi/pulumi";
import { Address4 } from "ip-address";
import { descriptionOf, tagsOf, type ClusterMarkInput } from "../identity/cluster-mark.js";
import { Component } from "../support/component.js";
import { ipv6SubnetName } from "../plan/names.js";
import type { Ipv6Spec } from "../spec/ipv6.js";
import type { FoundNetwork, RouterAddress } from "../support/existing-network.js";
import { stretchesWithout } from "../../base/addresses.js";
import type { Outside } from "./floating-address.js";

export interface NetworkArgs {
  readonly mark: ClusterMarkInput;
  /** Name of network, subnet and router. */
  readonly name: string;
  /** Range of the machines. */
  readonly nodes: string;
  readonly dns: readonly string[];
  /** Whether the router gets routes from the cluster's cloud controller: they go with its interface. */
  readonly routesOfCloud: boolean;
  /** Addresses in `nodes` that Neutron gives to nobody who does not ask for them. */
  readonly reserved: readonly string[];
  /** Bytes. @default Neutron's */
  readonly mtu?: number | undefined;
  readonly externalNetwork?: Outside["externalNetwork"];
  /** A subnet of IPv6 besides. @default there is none */
  readonly ipv6?: Ipv6Spec;
  /** Nothing is made, and nothing in it is changed. @default a network, a subnet and a router are made */
  readonly existing?: pulumi.Output<FoundNetwork> | undefined;
  /** Of the addresses of services, and its way out. @default these are in the machines' network */
  readonly ofServices?: ServicesPlace | undefined;
}

/** The network of the addresses of services, before it is made. */
export interface ServicesPlace {
  /** Name of network, subnet and router. */
  readonly name: string;
  readonly range: string;
  /** Floating IPs come from it, and Neutron gives them only to a network whose router leads there. */
  readonly externalNetwork: NonNullable<Outside["externalNetwork"]>;
}

/** Where machines have an address of IPv6 besides. */
export interface MachinesIpv6 {
  readonly subnetId: pulumi.Input<string>;
  /** Range of the subnet. */
  readonly nodes: string;
  readonly pods: string;
}

/** The network that the machines are in: one of their own with a router to the external network, or one that exists. */
export class Network extends Component {
  static readonly type = "stackadm:network:Network";
  readonly networkId: pulumi.Output<string>;
  readonly subnetId: pulumi.Output<string>;
  /** What machines have of IPv6 here. Absent: nothing. */
  readonly ipv6: MachinesIpv6 | undefined;
  /** Absent in a network that exists, unless its router was named. */
  readonly routerId: pulumi.Output<string | undefined>;
  /** Its addresses outside, by which machines without a floating IP leave. Absent where it was not named. */
  readonly routerAddresses: pulumi.Output<readonly RouterAddress[] | undefined>;
  /** MTU of the network in bytes, as Neutron found it. */
  readonly mtu: pulumi.Output<number>;
  readonly outside: Outside;
  /**
   * The subnet, known only when its router leads from it, so that who takes floating IPs there finds the way and keeps it
   * while they are there.
   */
  readonly routedSubnetId: pulumi.Output<string>;
  /** Absent where the addresses of services are in this network. */
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
    this.ofServices = ofServices && this.make(Network, "services", alone(mark, ofServices));
    this.outside = {
      mark,
      ...(externalNetwork && { externalNetwork }),
      ...(routerInterface && { routerInterface }),
    };
    this.registerOutputs({ networkId: this.networkId, subnetId: this.subnetId, mtu: this.mtu });
  }

  private create(args: NetworkArgs): Place {
    const marks = { description: descriptionOf(args.mark), tags: tagsOf(args.mark) };
    const network = this.make(openstack.networking.Network, "network", {
      name: args.name,
      adminStateUp: true,
      ...(args.mtu !== undefined && { mtu: args.mtu }),
      ...marks,
    });
    const subnet = this.makeSubnet("subnet", network, {
      name: args.name,
      networkId: network.id,
      cidr: args.nodes,
      ipVersion: 4,
      dnsNameservers: args.dns.filter((one) => !args.ipv6 || Address4.isValid(one)),
      ...(args.reserved.length > 0 && {
        allocationPools: [...stretchesWithout(args.nodes, args.reserved)],
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
      // Neutron does not let an interface go over which routes lead; the provider then takes these away first.
      ...(args.routesOfCloud && { forceDestroy: true }),
    });
    return {
      ...{ networkId: network.id, subnetId: subnet.id, routerId: router.id },
      ...{ routerAddresses: router.externalFixedIps, mtu: network.mtu, routerInterface },
      ...(args.ipv6 && {
        ipv6: this.createIpv6(args, args.ipv6, { network, router, routerInterface }),
      }),
    };
  }

  /**
   * Neutron deletes the subnets of a network with it; the plugin waits 8 s for each that it deletes itself, and on, while somebody else's
   * port is in it, for which a network is refused at once. One that is replaced or taken out alone is deleted as ever. A destroy that
   * ends before the network went leaves a subnet that the state has forgotten: the next one takes both.
   */
  private makeSubnet(
    role: string,
    network: openstack.networking.Network,
    args: openstack.networking.SubnetArgs,
  ): openstack.networking.Subnet {
    return this.make(openstack.networking.Subnet, role, args, { deletedWith: network });
  }

  /** The ID from the router's interface: a machine that boots asks the router for its address. */
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
      name: ipv6SubnetName(args.name),
      networkId: network.id,
      cidr: nodes,
      ipVersion: 6,
      ipv6AddressMode: mode,
      ipv6RaMode: mode,
      dnsNameservers: args.dns.filter((one) => !Address4.isValid(one)),
      description: descriptionOf(args.mark),
      tags: tagsOf(args.mark),
    });
    const { subnetId } = this.make(
      openstack.networking.RouterInterface,
      "ipv6-router-interface",
      { routerId: router.id, subnetId: subnet.id },
      // order: a router gets one interface after the other.
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

/** A network in which nothing is but the addresses of services, and which meets that of the machines in load balancers only. */
const alone = (
  mark: ClusterMarkInput,
  { name, range, externalNetwork }: ServicesPlace,
): NetworkArgs => ({
  ...{ mark, name, nodes: range, externalNetwork },
  ...{ dns: [], reserved: [], routesOfCloud: false },
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
