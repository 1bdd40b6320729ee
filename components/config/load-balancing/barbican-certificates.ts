import type { ClusterSpec } from "../cluster-spec.js";
import { serviceAnnotationKeys } from "./service-annotations.js";

/**
 * Returns the path of the setting that names a Barbican certificate for TLS termination on load
 * balancers. Returns undefined if no setting names a certificate, or if the certificate is not in
 * Barbican (`containerStore: external`).
 */
export function barbicanCertificatePath({
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
