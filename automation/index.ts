/** What tools that embed the cluster operations may import: `stackadm/automation`. */
export {
  createClusterService,
  type ClusterService,
  type ClusterServiceOptions,
  type RunOptions,
} from "./cluster/cluster-service.js";
export { ClusterError } from "./cluster/cluster-error.js";
export type { ClusterEvent } from "./cluster/events.js";
export { prepareSurroundings, type Surroundings } from "./setup/surroundings.js";
export { parseOutputs, type ClusterOutputs } from "./verify/outputs.js";
export { verifyCluster, type Verification } from "./verify/verify.js";
