import * as pulumi from "@pulumi/pulumi";
import {
  Endpoint,
  failWithoutMembers,
  type EndpointMember,
  type EndpointArgs,
} from "./endpoint.js";

/**
 * Endpoint at a floating IP on the first control plane. Machines of the cluster do not use the
 * floating IP. The machines try the addresses of all control planes one after another.
 */
export class FloatingIpEndpoint extends Endpoint {
  readonly #args: EndpointArgs<"floating-ip">;
  #address?: pulumi.Output<string>;

  constructor(
    name: string,
    args: EndpointArgs<"floating-ip">,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super(name, opts);
    this.#args = args;
    this.registerOutputs({});
  }

  get externalHost(): pulumi.Output<string> {
    return this.#address ?? failWithoutMembers();
  }

  get certificateNames(): pulumi.Output<string[]> {
    return pulumi.all([this.externalHost]);
  }

  getInternalAddresses(controlPlanes: readonly pulumi.Input<string>[]): pulumi.Output<string[]> {
    return pulumi.all([...controlPlanes]);
  }

  addControlPlane({ plan, machine }: EndpointMember): void {
    if (plan.position === 0) this.#address = this.publicAddress(this.#args, machine.portId);
  }
}
