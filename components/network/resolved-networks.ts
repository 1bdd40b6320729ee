import type * as pulumi from "@pulumi/pulumi";
import { servicesNetworkName } from "../plan/cluster-plan.js";
import type { ClusterSpec } from "../config/cluster-spec.js";
import { networkIn, servicesExternalNetworkIn, type CloudFacts } from "../lookup/cloud-lookup.js";
import type { NetworkArgs } from "./network.js";

/** Returns the networks of the specification, with the IDs that were looked up in the cloud. */
export const resolvedNetworks = (
  { name, externalNetwork, network, loadBalancer }: ClusterSpec,
  cloud: pulumi.Output<CloudFacts>,
): Pick<NetworkArgs, "externalNetwork" | "ofServices"> & {
  readonly existing: NetworkArgs["existing"];
} => ({
  ...(externalNetwork !== undefined && {
    externalNetwork: { id: cloud.externalNetworkId, name: cloud.externalNetworkName },
  }),
  existing: network.existing && cloud.apply(networkIn),
  ofServices: loadBalancer.network && {
    name: servicesNetworkName(name),
    range: loadBalancer.network.range,
    externalNetwork: cloud.apply(servicesExternalNetworkIn),
  },
});
