import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import {
  getClusterDescriptionOutput,
  getClusterTagsOutput,
  type ClusterMarkInput,
} from "../identity/resource-tags.js";
import { Component } from "../pulumi/component.js";

/** Connection of the machines' network to the external network. */
export interface ExternalConnection {
  readonly mark: ClusterMarkInput;
  /** External network of the floating IPs. Undefined if the cluster has no floating IPs. */
  readonly externalNetwork?: {
    readonly id: pulumi.Input<string>;
    readonly name: pulumi.Input<string>;
  };
  /**
   * Router interface in the machines' subnet. Undefined if the network existed before the cluster.
   */
  readonly routerInterface?: pulumi.Resource;
  /**
   * Returns the address of an existing floating IP, and checks an address that is known only during
   * the run.
   * @default all addresses were checked before the run
   */
  readonly checkFloatingIp?: (address: string) => pulumi.Input<string>;
}

/** Port that gets a floating IP, and the settings of the floating IP. */
export interface FloatingIpTarget {
  readonly portId: pulumi.Input<string>;
  /** Purpose of a new floating IP, such as `Ingress`. Neutron stores it in the description. */
  readonly what: string;
  /** Existing floating IP of the project. @default the program creates a floating IP */
  readonly given?: string | undefined;
}

/** Address of a floating IP, and the resource that attaches it to the port. */
export interface PublicAddress {
  readonly address: pulumi.Output<string>;
  readonly holder: pulumi.Resource;
}

/** Base class of components with a floating IP. Only this class attaches floating IPs to ports. */
export abstract class FloatingIpComponent extends Component {
  protected addressOutside(
    outside: ExternalConnection,
    reached: FloatingIpTarget,
    opts: pulumi.CustomResourceOptions = {},
  ): PublicAddress {
    return reached.given === undefined
      ? this.createFloatingIp(outside, reached, opts)
      : this.attachExisting(outside, { ...reached, given: reached.given }, opts);
  }

  private createFloatingIp(
    { mark, externalNetwork, routerInterface }: ExternalConnection,
    { portId, what }: FloatingIpTarget,
    opts: pulumi.CustomResourceOptions,
  ): PublicAddress {
    if (!externalNetwork)
      throw new RangeError("a floating IP is requested without an external network");
    const holder = this.make(
      openstack.networking.FloatingIp,
      "floating-ip",
      {
        pool: externalNetwork.name,
        // The provider takes any network with the name in `pool`. The ID determines which network
        // Neutron uses.
        valueSpecs: { floating_network_id: externalNetwork.id },
        portId,
        description: getClusterDescriptionOutput(mark, what),
        tags: getClusterTagsOutput(mark),
      },
      pulumi.mergeOptions(opts, {
        ...routed(routerInterface),
        // Neutron uses `valueSpecs` only when it creates the floating IP. A change of `pool` must
        // replace the floating IP, but a change of `valueSpecs` alone must not.
        ignoreChanges: ["valueSpecs"],
      }),
    );
    return { address: holder.address, holder };
  }

  /**
   * Attaches an existing floating IP of the project. The floating IP does not get the cluster's
   * tags, so the program never deletes it.
   */
  private attachExisting(
    { routerInterface, checkFloatingIp = (address) => address }: ExternalConnection,
    { portId, given }: FloatingIpTarget & { readonly given: string },
    opts: pulumi.CustomResourceOptions,
  ): PublicAddress {
    const holder = this.make(
      openstack.networking.FloatingIpAssociate,
      "floating-ip-association",
      { floatingIp: checkFloatingIp(given), portId },
      pulumi.mergeOptions(opts, {
        ...routed(routerInterface),
        // A port can have only one floating IP.
        deleteBeforeReplace: true,
        // Neutron itself detaches the floating IP when the port is deleted. The provider would
        // detach the floating IP from its current port, which may belong to another cluster.
        retainOnDelete: true,
      }),
    );
    return { address: holder.floatingIp, holder };
  }
}

/**
 * Returns options that create the floating IP after the router interface in the port's subnet.
 * Without the interface, Neutron refuses the floating IP.
 */
const routed = (routerInterface: pulumi.Resource | undefined): pulumi.CustomResourceOptions =>
  routerInterface ? { dependsOn: [routerInterface] } : {};
