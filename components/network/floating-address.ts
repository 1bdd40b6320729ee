import type * as openstack from "@pulumi/openstack";
import type * as pulumi from "@pulumi/pulumi";
import { tagsOf, type ClusterMarkInput } from "../identity/cluster-mark.js";

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

/** Arguments of a floating IP on a port of the cluster. */
export const floatingAddress = (
  { mark, externalNetwork }: Outside,
  portId: pulumi.Input<string>,
  description: string,
): openstack.networking.FloatingIpArgs => {
  if (!externalNetwork) throw new RangeError("a floating IP is asked for without a network for it");
  return {
    pool: externalNetwork.name,
    // The provider takes any network of that name; Neutron is told which one is meant.
    valueSpecs: { floating_network_id: externalNetwork.id },
    portId,
    description: `${description} of cluster ${mark.name}`,
    tags: tagsOf(mark),
  };
};

/** Its options. */
export const floatingAddressOptions = ({
  routerInterface,
}: Outside): pulumi.CustomResourceOptions => ({
  // order: Neutron refuses the association until the router has an interface in the port's subnet.
  ...(routerInterface && { dependsOn: [routerInterface] }),
  // Read when the address is made. Another pool replaces it, another way to name the same one does not.
  ignoreChanges: ["valueSpecs"],
});
