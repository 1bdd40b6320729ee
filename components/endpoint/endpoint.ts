import * as pulumi from "@pulumi/pulumi";
import { FloatingIpComponent, type ExternalConnection } from "../network/floating-ip-component.js";
import { getEndpointFloatingIp, type EndpointSpec } from "../config/load-balancing/endpoint.js";
import type { LocalContext } from "../lookup/local-context.js";
import {
  renderKeepalivedConfig,
  disabledVirtualIpValues,
  getReadyzUrl,
  type virtualIpVariables,
} from "./keepalived-documents.js";

/** Variables that virtual-ip.sh reads. */
export type VirtualIpValues = Readonly<
  Record<(typeof virtualIpVariables)[number], pulumi.Input<string>>
>;

/** Fields of a control plane that an endpoint needs. */
export interface EndpointMember {
  readonly plan: {
    /** Name of the machine. */
    readonly name: string;
    /** Position of the control plane, counted from 0. `kubeadm init` ran at position 0. */
    readonly position: number;
  };
  readonly machine: {
    readonly portId: pulumi.Input<string>;
    readonly address: pulumi.Input<string>;
  };
}

/** Arguments of all endpoint classes. */
export interface EndpointArgs<
  Kind extends EndpointSpec["kind"] = EndpointSpec["kind"],
> extends ExternalConnection {
  readonly spec: Extract<EndpointSpec, { kind: Kind }>;
  /** Name of the endpoint's objects in OpenStack. */
  readonly name: string;
  readonly networkId: pulumi.Input<string>;
  readonly subnetId: pulumi.Input<string>;
  /** IPv6 subnet of the network. Undefined if the network has none. */
  readonly ipv6?: object | undefined;
  /** CIDR of the machines. */
  readonly nodes: string;
  /**
   * Access to the cloud, with which the program deletes a load balancer that Octavia failed to
   * create.
   */
  readonly operator: LocalContext | undefined;
  /** CIDRs of clients outside the cluster that may use the API. */
  readonly allowedCidrs: readonly string[];
}

/**
 * Endpoint of the Kubernetes API. The endpoint is created before the machines. {@link
 * Endpoint.addControlPlane} then adds each control plane.
 */
export abstract class Endpoint extends FloatingIpComponent {
  /**
   * Pulumi type of all endpoint classes. Because the type is the same for every `endpoint.kind`, a
   * change of the kind keeps the floating IP with its address.
   */
  static readonly type = "stackadm:endpoint:Endpoint";
  /**
   * Address or name at which clients outside the cluster reach the API. Becomes known only when the
   * first control plane has been added.
   */
  abstract readonly externalHost: pulumi.Output<string>;
  /**
   * Addresses and names in the API server's certificate, in addition to the host name of the API.
   */
  abstract readonly certificateNames: pulumi.Output<string[]>;
  /** Resource that attaches the floating IP. Undefined if the endpoint has no floating IP. */
  #floatingIp?: pulumi.Resource;
  /** Virtual IP, which moves between control planes. Only the endpoint `virtual-ip` has one. */
  readonly virtualIp?: pulumi.Output<string>;

  protected constructor(name: string, opts?: pulumi.ComponentResourceOptions) {
    super(Endpoint.type, name, opts);
  }

  /**
   * Addresses from which a control plane's port may send, in addition to the port's own address.
   */
  get allowedAddresses(): readonly pulumi.Output<string>[] {
    return this.virtualIp ? [this.virtualIp] : [];
  }

  /**
   * Resources with an address that the user chose. All other ports are created after these
   * resources, because Neutron could otherwise assign the address to another port.
   */
  get fixedAddressResources(): readonly pulumi.Resource[] {
    return [];
  }

  /**
   * Resources that are created before a control plane gets a separate floating IP. After a change
   * of `endpoint.kind`, the API's floating IP may still be attached to that control plane's port.
   */
  get floatingIpResources(): readonly pulumi.Resource[] {
    return this.#floatingIp ? [this.#floatingIp] : [];
  }

  /**
   * Returns the addresses of the API that machines write to /etc/hosts if they are not control
   * planes. Returns an empty list if DNS resolves the host name of the API.
   */
  abstract getInternalAddresses(
    controlPlanes: readonly pulumi.Input<string>[],
  ): pulumi.Output<string[]>;

  /**
   * Adds a control plane to the endpoint. `leave` is the script that removes the control plane from
   * the cluster. Before `leave` runs, the endpoint stops sending clients to this control plane,
   * because its API server is about to stop. The first control plane is never removed, so it has no
   * `leave`.
   */
  abstract addControlPlane(controlPlane: EndpointMember, leave?: pulumi.Resource): void;

  /**
   * Returns the variables of virtual-ip.sh for the control plane at `position`. `controlPlanes`
   * contains the addresses of all control planes, ordered by position.
   */
  scriptValues(position: number, controlPlanes: readonly pulumi.Input<string>[]): VirtualIpValues {
    if (!this.virtualIp) return disabledVirtualIpValues;
    return {
      VIRTUAL_IP: this.virtualIp,
      VIRTUAL_IP_READY: this.virtualIp.apply(getReadyzUrl),
      VIRTUAL_IP_CONFIG: pulumi
        .all([this.virtualIp, pulumi.all([...controlPlanes])])
        .apply(([address, addresses]) => renderKeepalivedConfig({ address, position, addresses })),
    };
  }

  /** Attaches the API's floating IP to a port. Returns the floating IP's address. */
  protected publicAddress(
    outside: ExternalConnection & { readonly spec: EndpointSpec },
    portId: pulumi.Input<string>,
  ): pulumi.Output<string> {
    const { address, holder } = this.addressOutside(outside, {
      portId,
      what: "Kubernetes API",
      given: getEndpointFloatingIp(outside.spec),
    });
    this.#floatingIp = holder;
    return address;
  }
}

/**
 * Throws an error. A caller uses this function if the address of the endpoint is read before a
 * control plane was added.
 */
export const failWithoutMembers = (): never => {
  throw new RangeError("the endpoint's host is requested before the endpoint has a control plane");
};
