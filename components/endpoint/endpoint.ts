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

/** Variables that scripts/virtual-ip.sh reads. */
export type VirtualIpValues = Readonly<
  Record<(typeof virtualIpValues)[number], pulumi.Input<string>>
>;

/** Control plane, with the fields that an endpoint needs. */
export interface Admitted {
  readonly plan: {
    /** Name of the machine. */
    readonly name: string;
    /** Position from 0; the cluster was initialized on the first. */
    readonly position: number;
  };
  readonly machine: {
    readonly portId: pulumi.Input<string>;
    readonly address: pulumi.Input<string>;
  };
}

/** Arguments of every kind of endpoint. */
export interface EndpointArgs<
  Kind extends EndpointSpec["kind"] = EndpointSpec["kind"],
> extends Outside {
  readonly spec: Extract<EndpointSpec, { kind: Kind }>;
  /** Name of its resources in the cloud. */
  readonly name: string;
  readonly networkId: pulumi.Input<string>;
  readonly subnetId: pulumi.Input<string>;
  /** IPv6 subnet of the network. Absent: none. */
  readonly ipv6?: object | undefined;
  /** Range of the machines. */
  readonly nodes: string;
  /** Client of the cloud, which deletes a load balancer that Octavia could not create. */
  readonly operator: Operator | undefined;
  /** Ranges of clients that may use the API from outside. */
  readonly allowedCidrs: readonly string[];
}

/** Address of the Kubernetes API; it exists before any machine. */
export abstract class Endpoint extends Addressed {
  /**
   * Same type for every kind: a new kind takes over the floating IP, so that the address is kept.
   */
  static readonly type = "stackadm:endpoint:Endpoint";
  /** Host of the API from outside; known only when the first control plane is behind it. */
  abstract readonly outside: pulumi.Output<string>;
  /** Addresses and names in the API server's certificate, besides the API's name. */
  abstract readonly certificateNames: pulumi.Output<string[]>;
  readonly #former: pulumi.Output<string>;
  /** Resource that holds the public address, if the endpoint has one. */
  #floatingIp?: pulumi.Resource;
  /** Virtual IP that moves between control planes. */
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

  /**
   * Resources with a fixed address. Other ports are created later: Neutron might give them the
   * address.
   */
  get reserved(): readonly pulumi.Resource[] {
    return [];
  }

  /**
   * Resources to create before a control plane that had the API's floating IP can get another one.
   */
  get madeBefore(): readonly pulumi.Resource[] {
    return this.#floatingIp ? [this.#floatingIp] : [];
  }

  /**
   * Returns the addresses of the API's name for machines that are no control planes. Empty: DNS
   * resolves the name.
   */
  abstract inside(controlPlanes: readonly pulumi.Input<string>[]): pulumi.Output<string[]>;

  /**
   * Puts a control plane behind the endpoint. `leave` is the script that removes the control plane
   * from the cluster. The endpoint forgets the control plane before it runs, so that no client
   * connects to an API server that is about to stop. The first control plane has none: it is never
   * removed.
   */
  abstract admit(controlPlane: Admitted, leave?: pulumi.Resource): void;

  /**
   * Returns the variables of a control plane's script, from the addresses of all of them in order.
   */
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

  /** Returns the public address of the API, and puts it on a port. */
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

/** Returns the URN from releases in which the endpoint was part of the control plane. */
function former(cluster: string, parent: pulumi.Resource | undefined): pulumi.Output<string> {
  const type = "stackadm:kubeadm:ControlPlane";
  const controlPlane = pulumi.createUrn(`${cluster}-control-plane`, type, parent);
  return pulumi.createUrn(formerName(cluster), "stackadm:network:Endpoint", controlPlane);
}

/** Throws: the host was requested before a control plane is behind the endpoint. */
export const nobody = (): never => {
  throw new RangeError("an endpoint is asked for its host before a control plane is behind it");
};
