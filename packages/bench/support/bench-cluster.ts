/** Name of the cluster that is measured on the lab. */
export const benchClusterName = "bench";

/**
 * Returns the cluster's settings: one control plane with a floating IP, or several behind a load
 * balancer.
 */
export function getBenchCluster(controlPlanes: number, workers: number) {
  return {
    name: benchClusterName,
    image: "debian-12",
    externalNetwork: "public",
    allowedCidrs: ["172.29.0.0/16"],
    controlPlane: { flavor: "k8s-control-plane", count: controlPlanes },
    ...(controlPlanes > 1 && { endpoint: { kind: "load-balancer" as const } }),
    workers: { general: { flavor: "k8s-worker", count: workers } },
    zones: ["zone-a", "zone-b"],
    samples: true,
  };
}
