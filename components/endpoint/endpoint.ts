import * as pulumi from "@pulumi/pulumi";
import { Addressed, type Outside } from "../network/floating-address.js";
import { existingFloatingIp, type EndpointSpec } from "../spec/endpoint.js";
import type { Operator } from "../support/operator.js";
import {
  keepalivedConfig,
  noVirtualIp,
  readyAt,
  type virtualIpValues,
} from "./keepalived-documents.js";

/** What scripts/virtual-ip.sh is told. */
export type VirtualIpValues = Readonly<
  Record<(typeof virtualIpValues)[number], pulumi.Input<string>>
>;

/** A control plane as the endpoint has to know it. */
export interface Admitted {
  readonly plan: {
    /** Name of the machine. */
    readonly name: string;
    /** From 0; the cluster begins on the first. */
    readonly position: number;
  };
  readonly machine: {
    readonly portId: pulumi.Input<string>;
    readonly address: pulumi.Input<string>;
  };
}

/** What every kind of endpoint is made of. */
export interface EndpointArgs<
  Kind extends EndpointSpec["kind"] = EndpointSpec["kind"],
> extends Outside {
  readonly spec: Extract<EndpointSpec, { kind: Kind }>;
  /** Name of what it makes in the cloud. */
  readonly name: string;
  readonly networkId: pulumi.Input<string>;
  readonly subnetId: pulumi.Input<string>;
  /** Whether the network has a subnet of IPv6 besides. Absent: it has none. */
  readonly ipv6?: object | undefined;
  /** Range of the machines. */
  readonly nodes: string;
  /** Who may clear away what the cloud could not make. */
  readonly operator: Operator | undefined;
  /** Who may use the API from outside. */
  readonly allowedCidrs: readonly string[];
}

/** How the Kubernetes API is reached; there before any machine is. */
export abstract class Endpoint extends Addressed {
  /** One type for every kind: another kind takes over the floating IP, so that the address outside stays. */
  static readonly type = "stackadm:endpoint:Endpoint";
  /** Host of the API from outside; known only when the first control plane is behind it. */
  abstract readonly outside: pulumi.Output<string>;
  /** Addresses and names in the API server's certificate, beside the API's name. */
  abstract readonly certificateNames: pulumi.Output<string[]>;
  readonly #former: pulumi.Output<string>;
  /** What has the address outside, where the endpoint makes one. */
  #floatingIp?: pulumi.Resource;
  /** The address that control planes hand to each other. */
  readonly virtualIp?: pulumi.Output<string>;

  protected constructor(
    name: string,
    { mark }: Outside,
    opts: pulumi.ComponentResourceOptions = {},
  ) {
    const before = former(mark.name, opts.parent);
    super(Endpoint.type, name, pulumi.mergeOptions(opts, { aliases: [before] }));
    this.#former = before;
  }

  /** Addresses besides its own that a control plane's port may send from. */
  get allowedAddresses(): readonly pulumi.Output<string>[] {
    return this.virtualIp ? [this.virtualIp] : [];
  }

  /** What has an address that was chosen: Neutron must give it to no other port before. */
  get reserved(): readonly pulumi.Resource[] {
    return [];
  }

  /** What has to be made before another floating IP can be on a control plane that had the API's until now. */
  get madeBefore(): readonly pulumi.Resource[] {
    return this.#floatingIp ? [this.#floatingIp] : [];
  }

  /** What the API's name is on machines that are no control plane. Nothing: the network resolves the name. */
  abstract inside(controlPlanes: readonly pulumi.Input<string>[]): pulumi.Output<string[]>;

  /**
   * Puts a control plane behind the endpoint. What it makes is deleted before `leave` runs, by which the machine goes: nobody is
   * led to an API server that is about to stop. The first one comes without, since it stays as long as the cluster.
   */
  abstract admit(controlPlane: Admitted, leave?: pulumi.Resource): void;

  /** What the script of a control plane is told, given all control planes' addresses in their order. */
  scriptValues(position: number, controlPlanes: readonly pulumi.Input<string>[]): VirtualIpValues {
    if (!this.virtualIp) return noVirtualIp;
    return {
      VIRTUAL_IP: this.virtualIp,
      VIRTUAL_IP_READY: this.virtualIp.apply(readyAt),
      VIRTUAL_IP_CONFIG: pulumi
        .all([this.virtualIp, pulumi.all([...controlPlanes])])
        .apply(([address, addresses]) => keepalivedConfig({ address, position, addresses })),
    };
  }

  /** The address at which the API is reached from outside, on a port. */
  protected publicAddress(
    outside: Outside & { readonly spec: EndpointSpec },
    portId: pulumi.Input<string>,
  ): pulumi.Output<string> {
    const { address, holder } = this.addressOutside(
      outside,
      { portId, what: "Kubernetes API", given: existingFloatingIp(outside.spec) },
      { aliases: [{ name: `${formerName(outside.mark.name)}-floating-ip`, parent: this.#former }] },
    );
    this.#floatingIp = holder;
    return address;
  }
}

const formerName = (cluster: string): string => `${cluster}-control-plane-endpoint`;

/** The endpoint was a part of the control plane once. */
function former(cluster: string, parent: pulumi.Resource | undefined): pulumi.Output<string> {
  const type = "stackadm:kubeadm:ControlPlane";
  const controlPlane = pulumi.createUrn(`${cluster}-control-plane`, type, parent);
  return pulumi.createUrn(formerName(cluster), "stackadm:network:Endpoint", controlPlane);
}

/** The control plane that is asked for before one is there. */
export const nobody = (): never => {
  throw new RangeError("an endpoint is asked for its host before a control plane is behind it");
};
