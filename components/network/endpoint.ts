import * as openstack from "@pulumi/openstack";
import type * as pulumi from "@pulumi/pulumi";
import { tagsOf, type ClusterMarkInput } from "../identity/cluster-mark.js";
import { Component } from "../support/component.js";

export interface EndpointArgs {
  readonly mark: ClusterMarkInput;
  readonly externalNetwork: {
    readonly id: pulumi.Input<string>;
    readonly name: pulumi.Input<string>;
  };
  /** Port of the machine that answers. */
  readonly portId: pulumi.Input<string>;
  /** The route between the port's subnet and the external network. */
  readonly routerInterface: pulumi.Resource;
}

/** The address at which the cluster is reached from outside: a floating IP on the first control plane's port. */
export class Endpoint extends Component {
  static readonly type = "stackadm:network:Endpoint";
  readonly address: pulumi.Output<string>;

  constructor(name: string, args: EndpointArgs, opts?: pulumi.ComponentResourceOptions) {
    super(Endpoint.type, name, opts);
    const floatingIp = this.make(
      openstack.networking.FloatingIp,
      "floating-ip",
      {
        pool: args.externalNetwork.name,
        // The provider takes any network of that name; Neutron is told which one is meant.
        valueSpecs: { floating_network_id: args.externalNetwork.id },
        portId: args.portId,
        description: `Kubernetes API of cluster ${args.mark.name}`,
        tags: tagsOf(args.mark),
      },
      {
        // order: Neutron refuses the association until the router has an interface in the port's subnet.
        dependsOn: [args.routerInterface],
        // Read when the address is made. Another pool replaces it, another way to name the same one does not.
        ignoreChanges: ["valueSpecs"],
      },
    );
    this.address = floatingIp.address;
    this.registerOutputs({ address: this.address });
  }
}
