import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import { descriptionOf, tagsOf, type ClusterMarkInput } from "../identity/cluster-mark.js";
import { Component } from "../support/component.js";

/** What leads from the machines' network to the external one. */
export interface Outside {
  readonly mark: ClusterMarkInput;
  /** Absent: there are no floating IPs. */
  readonly externalNetwork?: {
    readonly id: pulumi.Input<string>;
    readonly name: pulumi.Input<string>;
  };
  /** The route between the machines' subnet and the external network. Absent: it was there before. */
  readonly routerInterface?: pulumi.Resource;
}

/** What is to be reached from outside. */
export interface Reached {
  readonly portId: pulumi.Input<string>;
  /** Said in the cloud of an address that is made: `Ingress` of the cluster. */
  readonly what: string;
  /** A floating IP that the project has already. @default one is made */
  readonly given?: string | undefined;
}

/** The address outside, and the resource that has put it there. */
export interface PublicAddress {
  readonly address: pulumi.Output<string>;
  readonly holder: pulumi.Resource;
}

/** What has an address outside: the one way in which a port of the cluster gets a floating IP. */
export abstract class Addressed extends Component {
  protected addressOutside(
    outside: Outside,
    reached: Reached,
    opts: pulumi.CustomResourceOptions = {},
  ): PublicAddress {
    return reached.given === undefined
      ? this.made(outside, reached, opts)
      : this.putThere(outside, { ...reached, given: reached.given }, opts);
  }

  private made(
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
        // The provider takes any network of that name; Neutron is told which one is meant.
        valueSpecs: { floating_network_id: externalNetwork.id },
        portId,
        description: descriptionOf(mark, what),
        tags: tagsOf(mark),
      },
      pulumi.mergeOptions(opts, {
        ...routed(routerInterface),
        // Read when the address is made. Another pool replaces it, another way to name the same one does not.
        ignoreChanges: ["valueSpecs"],
      }),
    );
    return { address: holder.address, holder };
  }

  /** The address is the project's own: it carries no mark of the cluster, so that nothing here ever deletes it. */
  private putThere(
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
        // A port has one.
        deleteBeforeReplace: true,
        // It comes off when its port goes. The provider would take it from whatever port it is on by then: it may have been
        // given to another cluster.
        retainOnDelete: true,
      }),
    );
    return { address: holder.floatingIp, holder };
  }
}

/** order: Neutron refuses the association until the router has an interface in the port's subnet. */
const routed = (routerInterface: pulumi.Resource | undefined): pulumi.CustomResourceOptions =>
  routerInterface ? { dependsOn: [routerInterface] } : {};
