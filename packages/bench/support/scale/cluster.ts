/** Returns the description of the cluster on fake machines. */
export const getScaleCluster = (controlPlanes: number, workers: number) => ({
  name: "dev",
  image: "debian-12",
  externalNetwork: "public",
  allowedCidrs: ["203.0.113.0/24"],
  network: { nodes: "10.0.0.0/16", pods: "10.128.0.0/10" },
  controlPlane: { flavor: "k8s-control-plane", count: controlPlanes },
  endpoint: { kind: "load-balancer" as const },
  workers: { general: { flavor: "k8s-worker", count: workers } },
});
