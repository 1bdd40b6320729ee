import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import { tagsOf } from "../identity/cluster-mark.js";
import { Endpoint, type EndpointArgs } from "./endpoint.js";
import { keepalivedConfig, type VirtualIpValues } from "./keepalived-documents.js";

/** An address that the control planes hand to each other by keepalived. A port that no machine has keeps it. */
export class VirtualIpEndpoint extends Endpoint {
  readonly outside: pulumi.Output<string>;
  readonly certificateNames: pulumi.Output<string[]>;
  override readonly allowedAddresses: readonly pulumi.Input<string>[];
  readonly #address: pulumi.Output<string>;

  constructor(
    name: string,
    args: EndpointArgs<"virtual-ip">,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super(name, args, opts);
    const port = this.reserve(args);
    this.#address = port.allFixedIps.apply(([address = ""]) => address);
    this.outside = args.spec.public ? this.publicAddress(args, port.id) : this.#address;
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

  override scriptValues(
    position: number,
    controlPlanes: readonly pulumi.Input<string>[],
  ): VirtualIpValues {
    return {
      VIRTUAL_IP: this.#address,
      VIRTUAL_IP_CONFIG: pulumi
        .all([this.#address, pulumi.all([...controlPlanes])])
        .apply(([address, addresses]) => keepalivedConfig({ address, position, addresses })),
    };
  }

  /** Neutron gives the address of a port to nobody else. */
  private reserve(args: EndpointArgs<"virtual-ip">): openstack.networking.Port {
    const { address } = args.spec;
    return this.make(openstack.networking.Port, "port", {
      name: args.name,
      description: `Virtual IP of the Kubernetes API of cluster ${args.mark.name}`,
      networkId: args.networkId,
      adminStateUp: true,
      noSecurityGroups: true,
      fixedIps: [{ subnetId: args.subnetId, ...(address !== undefined && { ipAddress: address }) }],
      tags: tagsOf(args.mark),
    });
  }
}
