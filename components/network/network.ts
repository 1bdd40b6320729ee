import * as openstack from "@pulumi/openstack";
import type * as pulumi from "@pulumi/pulumi";
import { tagsOf, type ClusterMarkInput } from "../identity/cluster-mark.js";
import { Component } from "../support/component.js";
import type { Outside } from "./floating-address.js";

export interface NetworkArgs {
  readonly mark: ClusterMarkInput;
  /** Name of network, subnet and router. */
  readonly name: string;
  /** Range of the machines. */
  readonly nodes: string;
  readonly dns: readonly string[];
  readonly externalNetwork: Outside["externalNetwork"];
}

/** The private network of the machines, with a router to the external network. */
export class Network extends Component {
  static readonly type = "stackadm:network:Network";
  readonly networkId: pulumi.Output<string>;
  readonly subnetId: pulumi.Output<string>;
  readonly routerId: pulumi.Output<string>;
  /** MTU of the network in bytes, as Neutron found it. */
  readonly mtu: pulumi.Output<number>;
  readonly outside: Outside;

  constructor(name: string, args: NetworkArgs, opts?: pulumi.ComponentResourceOptions) {
    super(Network.type, name, opts);
    const tags = tagsOf(args.mark);
    const network = this.make(openstack.networking.Network, "network", {
      name: args.name,
      adminStateUp: true,
      tags,
    });
    const subnet = this.make(openstack.networking.Subnet, "subnet", {
      name: args.name,
      networkId: network.id,
      cidr: args.nodes,
      ipVersion: 4,
      dnsNameservers: [...args.dns],
      tags,
    });
    const router = this.make(openstack.networking.Router, "router", {
      name: args.name,
      adminStateUp: true,
      externalNetworkId: args.externalNetwork.id,
      tags,
    });
    const routerInterface = this.make(openstack.networking.RouterInterface, "router-interface", {
      routerId: router.id,
      subnetId: subnet.id,
    });
    this.outside = { mark: args.mark, externalNetwork: args.externalNetwork, routerInterface };
    this.networkId = network.id;
    this.subnetId = subnet.id;
    this.routerId = router.id;
    this.mtu = network.mtu;
    this.registerOutputs({ networkId: this.networkId, subnetId: this.subnetId, mtu: this.mtu });
  }
}
