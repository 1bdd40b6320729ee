import type { ClusterSpec } from "./cluster-spec.js";

/** Where a specification names a certificate in Barbican, by which load balancers end TLS. Undefined: nowhere. */
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
