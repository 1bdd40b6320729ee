/**
 * Renders Services of type LoadBalancer with the annotations of cloud-provider-openstack (pure
 * functions).
 */
import { confKey } from "../../config/cloud/cloud-conf-keys.js";
import type { SampleServices } from "../../config/load-balancing/sample-services.js";

/** Settings of all Services of type LoadBalancer that the program creates. */
export interface LoadBalancerServiceSettings {
  /**
   * Load balancer class of internal Services. This class selects the network of the nodes.
   * @default none: all load balancers are in the network of the nodes
   */
  readonly internalClass?: string | undefined;
  /**
   * CIDRs from which clients are accepted. The list must also contain the cluster's own networks.
   * @default all addresses
   */
  readonly clients?: readonly string[] | undefined;
}

type Settings = Pick<SampleServices, "address" | "annotations"> & LoadBalancerServiceSettings;

/**
 * Returns the annotations and fields of a Service. `external`: the load balancer has a floating IP.
 * `internal`: it has only an address in the network of the nodes.
 */
export function loadBalancedService(reach: "external" | "internal", settings: Settings) {
  const internal = "service.beta.kubernetes.io/openstack-internal-load-balancer";
  const inside = settings.internalClass === undefined ? {} : { class: settings.internalClass };
  const written = { ...(reach === "internal" && inside), ...settings.annotations };
  const annotations: Record<string, string> = {
    ...(reach === "internal" && { [internal]: "true" }),
    ...Object.fromEntries(
      Object.entries(written).map(([key, value]) => [
        `loadbalancer.openstack.org/${confKey(key)}`,
        String(value),
      ]),
    ),
  };
  return {
    metadata: Object.keys(annotations).length > 0 ? { annotations } : {},
    spec: {
      type: "LoadBalancer" as const,
      ...(reach === "external" &&
        settings.address !== undefined && { loadBalancerIP: settings.address }),
      ...(settings.clients && { loadBalancerSourceRanges: [...settings.clients] }),
    },
  };
}
