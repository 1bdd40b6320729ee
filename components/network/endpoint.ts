import * as openstack from "@pulumi/openstack";
import type * as pulumi from "@pulumi/pulumi";
import { clusterTag } from "../../cloud/ownership.js";
import { Component } from "../support/component.js";

export interface EndpointArgs {
  readonly clusterName: string;
  /** Name of the external network. */
  readonly externalNetwork: string;
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
        pool: args.externalNetwork,
        portId: args.portId,
        description: `Kubernetes API of cluster ${args.clusterName}`,
        tags: [clusterTag(args.clusterName)],
      },
      // order: Neutron refuses the association until the router has an interface in the port's subnet.
      { dependsOn: [args.routerInterface] },
    );
    this.address = floatingIp.address;
    this.registerOutputs({ address: this.address });
  }
}
