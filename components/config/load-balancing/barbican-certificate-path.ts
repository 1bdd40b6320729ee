import type { ClusterSpec } from "../cluster-spec.js";
import { serviceAnnotationKeys } from "./service-annotations.js";

/**
 * Returns the path of the argument that names a Barbican certificate with which load balancers
 * terminate TLS. Returns undefined if there is no such argument, or if the certificate is not in
 * Barbican (`containerStore: external`).
 */
export function findBarbicanCertificatePath({
  loadBalancer,
  sampleServices,
}: Pick<ClusterSpec, "loadBalancer" | "sampleServices">): string | undefined {
  if (loadBalancer.containerStore === "external") return undefined;
  if (loadBalancer.defaultTlsContainerRef !== undefined)
    return "loadBalancer.defaultTlsContainerRef";
  return sampleServices.annotations?.[serviceAnnotationKeys.certificate] === undefined
    ? undefined
    : `sampleServices.annotations.${serviceAnnotationKeys.certificate}`;
}
