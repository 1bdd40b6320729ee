import * as pulumi from "@pulumi/pulumi";
import { PubliclyAddressed, type RouteOutside } from "../network/public-address.js";
import { existingFloatingIp, type EndpointSpec } from "../config/load-balancing/endpoint.js";
import type { LocalContext } from "../lookup/local-context.js";
import {
  keepalivedConfig,
  noVirtualIp,
  readyzUrl,
  type virtualIpValues,
} from "./keepalived-documents.js";

/** Variables that virtual-ip.sh reads. */
export type VirtualIpValues = Readonly<
  Record<(typeof virtualIpValues)[number], pulumi.Input<string>>
>;

/** Control plane, with the fields that an endpoint needs. */
export interface EndpointMember {
  readonly plan: {
    /** Name of the machine. */
    readonly name: string;
    /** Position from 0. `kubeadm init` ran on the control plane at position 0. */
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
> extends RouteOutside {
  readonly spec: Extract<EndpointSpec, { kind: Kind }>;
  /** Name of the endpoint's objects in OpenStack. */
  readonly name: string;
  readonly networkId: pulumi.Input<string>;
  readonly subnetId: pulumi.Input<string>;
  /** IPv6 subnet of the network. Absent: none. */
  readonly ipv6?: object | undefined;
  /** Range of the machines. */
  readonly nodes: string;
  /** Access to the cloud, to delete a load balancer that Octavia could not create. */
  readonly operator: LocalContext | undefined;
  /** Ranges of clients that may use the API from outside. */
  readonly allowedCidrs: readonly string[];
}

/**
 * Endpoint of the Kubernetes API. The component is created before the machines; each control plane
 * is then added by `admit`.
 */
export abstract class Endpoint extends PubliclyAddressed {
  /**
   * Type of all endpoint classes. With one type for every `endpoint.kind`, a change of the kind
   * keeps the floating IP, and so its address.
   */
  static readonly type = "stackadm:endpoint:Endpoint";
  /**
   * Address or name of the API for clients outside. Known only when the first control plane is
   * behind the endpoint.
   */
  abstract readonly outside: pulumi.Output<string>;
  /** Addresses and names in the API server's certificate, in addition to the name of the API. */
  abstract readonly certificateNames: pulumi.Output<string[]>;
  readonly #former: pulumi.Output<string>;
  /** Resource that attaches the floating IP. Absent: the endpoint has no floating IP. */
  #floatingIp?: pulumi.Resource;
  /**
   * Virtual IP, which moves between control planes. Absent for all endpoints except `virtual-ip`.
   */
  readonly virtualIp?: pulumi.Output<string>;

  protected constructor(
    name: string,
    { mark }: RouteOutside,
    opts: pulumi.ComponentResourceOptions = {},
  ) {
    const before = former(mark.name, opts.parent);
    super(Endpoint.type, name, pulumi.mergeOptions(opts, { aliases: [before] }));
    this.#former = before;
  }

  /**
   * Addresses from which a control plane's port may send, in addition to the address of the port.
   */
  get allowedAddresses(): readonly pulumi.Output<string>[] {
    return this.virtualIp ? [this.virtualIp] : [];
  }

  /**
   * Resources with an address that the user chose. Other ports are created later, because Neutron
   * might assign this address to them.
   */
  get reserved(): readonly pulumi.Resource[] {
    return [];
  }

  /**
   * Resources to create before a control plane gets another floating IP. After a change of
   * `endpoint.kind`, the API's floating IP may still be on that control plane's port.
   */
  get madeBefore(): readonly pulumi.Resource[] {
    return this.#floatingIp ? [this.#floatingIp] : [];
  }

  /**
   * Returns the addresses to which other machines than control planes resolve the name of the API.
   * Empty: DNS resolves the name.
   */
  abstract inside(controlPlanes: readonly pulumi.Input<string>[]): pulumi.Output<string[]>;

  /**
   * Puts a control plane behind the endpoint. `leave` is the script that removes the control plane
   * from the cluster. Before this script runs, the endpoint stops using the control plane, so that
   * no client connects to an API server that is about to stop. The first control plane is never
   * removed, so it has no `leave`.
   */
  abstract admit(controlPlane: EndpointMember, leave?: pulumi.Resource): void;

  /**
   * Returns the variables of virtual-ip.sh for the control plane at `position`.
   * `controlPlanes` are the addresses of all control planes, by position.
   */
  scriptValues(position: number, controlPlanes: readonly pulumi.Input<string>[]): VirtualIpValues {
    if (!this.virtualIp) return noVirtualIp;
    return {
      VIRTUAL_IP: this.virtualIp,
      VIRTUAL_IP_READY: this.virtualIp.apply(readyzUrl),
      VIRTUAL_IP_CONFIG: pulumi
        .all([this.virtualIp, pulumi.all([...controlPlanes])])
        .apply(([address, addresses]) => keepalivedConfig({ address, position, addresses })),
    };
  }

  /** Attaches the API's floating IP to a port, and returns the address. */
  protected publicAddress(
    outside: RouteOutside & { readonly spec: EndpointSpec },
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

/**
 * Returns the URN that the endpoint had in earlier releases, in which the control plane contained
 * it.
 */
function former(cluster: string, parent: pulumi.Resource | undefined): pulumi.Output<string> {
  const type = "stackadm:kubeadm:ControlPlane";
  const controlPlane = pulumi.createUrn(`${cluster}-control-plane`, type, parent);
  return pulumi.createUrn(formerName(cluster), "stackadm:network:Endpoint", controlPlane);
}

/**
 * Throws an error, because the host was requested before a control plane is behind the endpoint.
 */
export const failWithoutMembers = (): never => {
  throw new RangeError("an endpoint is asked for its host before a control plane is behind it");
};
