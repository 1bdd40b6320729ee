/**
 * Renders Services of type LoadBalancer with the annotations of cloud-provider-openstack (pure
 * functions).
 */
import type { StringInput, StringsInput } from "../../kubernetes-objects/kubernetes-types.js";
import type { SampleServices } from "../../config/load-balancing/sample-services.js";
import { serviceAnnotationKeys } from "../../config/load-balancing/service-annotations.js";

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
  readonly clients?: StringsInput | undefined;
}

type Settings = Pick<SampleServices, "annotations"> &
  LoadBalancerServiceSettings & { readonly address?: StringInput | undefined };

/**
 * Returns the annotations and fields of a Service. With `external`, the load balancer has a
 * floating IP. With `internal`, the load balancer has only an address in the network of the nodes.
 */
export function buildLoadBalancerFields(reach: "external" | "internal", settings: Settings) {
  const { internalClass } = settings;
  const annotations: Record<string, string> = {
    ...(reach === "internal" && { [serviceAnnotationKeys.internal]: "true" }),
    ...(reach === "internal" &&
      internalClass !== undefined && { [serviceAnnotationKeys.class]: internalClass }),
    ...settings.annotations,
  };
  return {
    metadata: Object.keys(annotations).length > 0 ? { annotations } : {},
    spec: {
      type: "LoadBalancer" as const,
      ...(reach === "external" &&
        settings.address !== undefined && { loadBalancerIP: settings.address }),
      ...(settings.clients && { loadBalancerSourceRanges: settings.clients }),
    },
  };
}
