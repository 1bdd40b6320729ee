import type { ClusterSpec } from "./cluster-spec.js";

/**
 * Returns the path in the specification that names the Barbican certificate with which load
 * balancers terminate TLS. Returns undefined if no path names one.
 */
export function certificateIn({
  loadBalancer,
  sampleServices,
}: Pick<ClusterSpec, "loadBalancer" | "sampleServices">): string | undefined {
  if (loadBalancer.containerStore === "external") return undefined;
  if (loadBalancer.defaultTlsContainerRef !== undefined)
    return "loadBalancer.defaultTlsContainerRef";
  return sampleServices.annotations?.defaultTlsContainerRef === undefined
    ? undefined
    : "sampleServices.annotations.defaultTlsContainerRef";
}
