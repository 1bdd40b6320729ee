import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import { descriptionOf, tagsOf, type ClusterMarkInput } from "../identity/cluster-mark.js";
import { Component } from "../support/component.js";

/** Way from the machines' network to the external one. */
export interface Outside {
  readonly mark: ClusterMarkInput;
  /** External network that floating IPs come from. Absent: there are no floating IPs. */
  readonly externalNetwork?: {
    readonly id: pulumi.Input<string>;
    readonly name: pulumi.Input<string>;
  };
  /** Router interface that connects the machines' subnet. Absent: it existed before. */
  readonly routerInterface?: pulumi.Resource;
}

/** Port that gets a floating IP. */
export interface Reached {
  readonly portId: pulumi.Input<string>;
  /** Purpose of a new address, for its description in the cloud, such as `Ingress`. */
  readonly what: string;
  /** Floating IP that the project has already. @default a new one is created */
  readonly given?: string | undefined;
}

/** Public address, and the resource that put it on the port. */
export interface PublicAddress {
  readonly address: pulumi.Output<string>;
  readonly holder: pulumi.Resource;
}

/** Base class of what has a public address: the only way in which a port gets a floating IP. */
export abstract class Addressed extends Component {
  protected addressOutside(
    outside: Outside,
    reached: Reached,
    opts: pulumi.CustomResourceOptions = {},
  ): PublicAddress {
    return reached.given === undefined
      ? this.createFloatingIp(outside, reached, opts)
      : this.attachExisting(outside, { ...reached, given: reached.given }, opts);
  }

  private createFloatingIp(
    { mark, externalNetwork, routerInterface }: Outside,
    { portId, what }: Reached,
    opts: pulumi.CustomResourceOptions,
  ): PublicAddress {
    if (!externalNetwork)
      throw new RangeError("a floating IP is asked for without a network for it");
    const holder = this.make(
      openstack.networking.FloatingIp,
      "floating-ip",
      {
        pool: externalNetwork.name,
        // The provider picks any network of that name, so the ID tells Neutron which one is meant.
        valueSpecs: { floating_network_id: externalNetwork.id },
        portId,
        description: descriptionOf(mark, what),
        tags: tagsOf(mark),
      },
      pulumi.mergeOptions(opts, {
        ...routed(routerInterface),
        // Used only on creation. Another pool replaces the address; another way to name the pool
        // must not.
        ignoreChanges: ["valueSpecs"],
      }),
    );
    return { address: holder.address, holder };
  }

  /**
   * Attaches an address that the project owns. It has no mark of the cluster, so it is never
   * deleted.
   */
  private attachExisting(
    { routerInterface }: Outside,
    { portId, given }: Reached & { readonly given: string },
    opts: pulumi.CustomResourceOptions,
  ): PublicAddress {
    const holder = this.make(
      openstack.networking.FloatingIpAssociate,
      "floating-ip-association",
      { floatingIp: given, portId },
      pulumi.mergeOptions(opts, {
        ...routed(routerInterface),
        // A port has at most one floating IP.
        deleteBeforeReplace: true,
        // Neutron detaches the address when its port is deleted. The provider would detach it from
        // whichever port has it then, even if that belongs to another cluster.
        retainOnDelete: true,
      }),
    );
    return { address: holder.floatingIp, holder };
  }
}

/** order: Neutron refuses the association until the router has an interface in the port's subnet. */
const routed = (routerInterface: pulumi.Resource | undefined): pulumi.CustomResourceOptions =>
  routerInterface ? { dependsOn: [routerInterface] } : {};
