import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import { tagsOf } from "../identity/cluster-mark.js";
import { floatingAddress, floatingAddressOptions } from "../network/floating-address.js";
import { Component } from "../support/component.js";
import type { Endpoint, EndpointArgs } from "./endpoint.js";
import { keepalivedConfig } from "./keepalived-documents.js";

/** An address that the control planes hand to each other by keepalived. A port that no machine has keeps it. */
export class VirtualIpEndpoint extends Component implements Endpoint {
  static readonly type = "stackadm:endpoint:VirtualIp";
  readonly outside: pulumi.Output<string>;
  readonly certificateNames: pulumi.Output<string[]>;
  readonly allowedAddresses: readonly pulumi.Input<string>[];
  readonly #address: pulumi.Output<string>;

  constructor(
    name: string,
    args: EndpointArgs<"virtual-ip">,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super(VirtualIpEndpoint.type, name, opts);
    const { spec } = args;
    const port = this.make(openstack.networking.Port, "port", {
      name: args.name,
      networkId: args.networkId,
      adminStateUp: true,
      fixedIps: [
        {
          subnetId: args.subnetId,
          ...(spec.address !== undefined && { ipAddress: spec.address }),
        },
      ],
      tags: tagsOf(args.mark),
    });
    this.#address = port.allFixedIps.apply((addresses) => addresses[0] ?? "");
    this.outside = spec.public
      ? this.make(
          openstack.networking.FloatingIp,
          "floating-ip",
          floatingAddress(args, port.id, "Kubernetes API"),
          floatingAddressOptions(args),
        ).address
      : this.#address;
    this.certificateNames = pulumi
      .all([this.#address, this.outside])
      .apply((addresses) => [...new Set(addresses)]);
    this.allowedAddresses = [this.#address];
    this.registerOutputs({});
  }

  inside(): pulumi.Output<string[]> {
    return pulumi.all([this.#address]);
  }

  /** Their scripts bring the address to them. */
  admit(): void {
    return;
  }

  scriptValues(
    position: number,
    controlPlanes: readonly pulumi.Input<string>[],
  ): Record<string, pulumi.Input<string>> {
    return {
      VIRTUAL_IP_CONFIG: pulumi
        .all([this.#address, pulumi.all([...controlPlanes])])
        .apply(([address, addresses]) => keepalivedConfig({ address, position, addresses })),
    };
  }
}
