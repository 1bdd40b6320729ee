import type * as pulumi from "@pulumi/pulumi";
import { getServicesNetworkName } from "../plan/cluster-plan.js";
import type { ClusterSpec } from "../config/cluster-spec.js";
import {
  requireExistingNetwork,
  requireServicesExternalNetwork,
  type CloudFacts,
} from "../lookup/cloud-lookup.js";
import type { NetworkArgs } from "./network.js";

/** Returns the networks of the specification, with the IDs that were looked up in the cloud. */
export const resolveNetworks = (
  { name, externalNetwork, network, loadBalancer }: ClusterSpec,
  cloud: pulumi.Output<CloudFacts>,
): Pick<NetworkArgs, "externalNetwork" | "ofServices"> & {
  readonly existing: NetworkArgs["existing"];
} => ({
  ...(externalNetwork !== undefined && {
    externalNetwork: { id: cloud.externalNetworkId, name: cloud.externalNetworkName },
  }),
  existing: network.existing && cloud.apply(requireExistingNetwork),
  ofServices: loadBalancer.network && {
    name: getServicesNetworkName(name),
    range: loadBalancer.network.range,
    externalNetwork: cloud.apply(requireServicesExternalNetwork),
  },
});
