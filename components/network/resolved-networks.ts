import { getServicesNetworkName } from "../plan/cluster-plan.js";
import type { ClusterSpec } from "../config/cluster-spec.js";
import type { CloudObjects } from "../lookup/cloud-objects.js";
import type { NetworkArgs } from "./network.js";

/** Returns the networks of the specification, with the IDs that were looked up in the cloud. */
export const resolveNetworks = (
  { name, externalNetwork, network, loadBalancer }: ClusterSpec,
  objects: CloudObjects,
): Pick<NetworkArgs, "externalNetwork" | "ofServices"> & {
  readonly existing: NetworkArgs["existing"];
} => ({
  ...(externalNetwork !== undefined && {
    externalNetwork: { id: objects.externalNetwork.id, name: objects.externalNetwork.name },
  }),
  existing: network.existing && objects.network,
  ofServices: loadBalancer.network && {
    name: getServicesNetworkName(name),
    range: loadBalancer.network.range,
    externalNetwork: objects.servicesExternalNetwork,
  },
});
