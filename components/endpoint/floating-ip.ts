import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import { floatingAddress, floatingAddressOptions } from "../network/floating-address.js";
import { Component } from "../support/component.js";
import { nobody, type Admitted, type Endpoint, type EndpointArgs } from "./endpoint.js";

/** A floating IP on the first control plane. Inside, each control plane is tried in turn. */
export class FloatingIpEndpoint extends Component implements Endpoint {
  static readonly type = "stackadm:endpoint:FloatingIp";
  readonly allowedAddresses = [];
  readonly #args: EndpointArgs<"floating-ip">;
  readonly #former: pulumi.Alias;
  #address?: pulumi.Output<string>;

  constructor(
    name: string,
    args: EndpointArgs<"floating-ip">,
    opts?: pulumi.ComponentResourceOptions,
  ) {
    super(FloatingIpEndpoint.type, name, opts);
    this.#args = args;
    this.#former = formerName(args.mark.name, opts?.parent);
    this.registerOutputs({});
  }

  get outside(): pulumi.Output<string> {
    return this.#address ?? nobody();
  }

  get certificateNames(): pulumi.Output<string[]> {
    return pulumi.all([this.outside]);
  }

  inside(controlPlanes: readonly pulumi.Input<string>[]): pulumi.Output<string[]> {
    return pulumi.all([...controlPlanes]);
  }

  admit({ position, portId }: Admitted): void {
    if (position > 0) return;
    this.#address = this.make(
      openstack.networking.FloatingIp,
      "floating-ip",
      floatingAddress(this.#args, portId, "Kubernetes API"),
      { ...floatingAddressOptions(this.#args), aliases: [this.#former] },
    ).address;
  }

  scriptValues(): Record<string, string> {
    return { VIRTUAL_IP_CONFIG: "" };
  }
}

/** The address was a part of the control plane once. */
function formerName(cluster: string, parent: pulumi.Resource | undefined): pulumi.Alias {
  const name = `${cluster}-control-plane`;
  const controlPlane = pulumi.createUrn(name, "stackadm:kubeadm:ControlPlane", parent);
  return {
    name: `${name}-endpoint-floating-ip`,
    parent: pulumi.createUrn(`${name}-endpoint`, "stackadm:network:Endpoint", controlPlane),
  };
}
