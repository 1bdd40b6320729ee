/** What a specification says of the add-ons (pure). */
import { metricsServerOf } from "./manifests/metrics-server.js";
import type { ClusterSpec } from "../cluster-spec.js";

/** The arguments of the add-ons that depend on nothing but the specification. */
export const addonsOf = (spec: ClusterSpec) => ({
  clusterName: spec.name,
  kubernetesVersion: spec.kubernetes.version,
  registry: spec.kubernetes.registry,
  podNetwork: spec.podNetwork,
  podCidr: spec.network.pods,
  serviceCidr: spec.network.services,
  cloudController: spec.cloudController.enabled,
  blockStorage: spec.blockStorage,
  storageClasses: spec.storageClasses,
  metricsServer: metricsServerOf(spec),
  samples: spec.samples,
  sampleServices: spec.sampleServices,
});
