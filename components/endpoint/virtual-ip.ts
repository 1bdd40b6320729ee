import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import { getClusterDescriptionOutput, getClusterTagsOutput } from "../identity/resource-tags.js";
import { findAddressOfFamily } from "../../base/ip-addresses.js";
import { Endpoint, type EndpointArgs } from "./endpoint.js";

/**
 * Endpoint at a virtual IP that keepalived moves between the control planes. A port without a
 * machine reserves the address.
 */
export class VirtualIpEndpoint extends Endpoint {
  readonly externalHost: pulumi.Output<string>;
  readonly certificateNames: pulumi.Output<string[]>;
  override readonly virtualIp: pulumi.Output<string>;

  readonly #chosen: readonly pulumi.Resource[];

  constructor(
    name: string,
    args: EndpointArgs<"virtual-ip">,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super(name, opts);
    const port = this.reserve(args);
    this.#chosen = args.spec.address === undefined ? [] : [port];
    this.virtualIp = port.allFixedIps.apply((all) => findAddressOfFamily("IPv4", all));
    this.externalHost = args.spec.public ? this.publicAddress(args, port.id) : this.virtualIp;
    this.certificateNames = pulumi
      .all([this.virtualIp, this.externalHost])
      .apply((addresses) => [...new Set(addresses)]);
    this.registerOutputs({});
  }

  override get fixedAddressResources(): readonly pulumi.Resource[] {
    return this.#chosen;
  }

  getInternalAddresses(): pulumi.Output<string[]> {
    return pulumi.all([this.virtualIp]);
  }

  /** Does nothing, because scripts on the control planes configure the virtual IP. */
  addControlPlane(): void {
    return;
  }

  /** Creates a port with the virtual IP. Neutron then assigns this address to no other port. */
  private reserve(args: EndpointArgs<"virtual-ip">): openstack.networking.Port {
    const { address } = args.spec;
    return this.make(openstack.networking.Port, "port", {
      name: args.name,
      description: getClusterDescriptionOutput(args.mark, "Virtual IP of the Kubernetes API"),
      networkId: args.networkId,
      adminStateUp: true,
      noSecurityGroups: true,
      fixedIps: [{ subnetId: args.subnetId, ...(address !== undefined && { ipAddress: address }) }],
      tags: getClusterTagsOutput(args.mark),
    });
  }
}
