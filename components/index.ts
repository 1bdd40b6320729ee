/** What other programs may import. */
export {
  Cluster,
  wantedOf,
  type ClusterComponentArgs,
  type NodeOutput,
  type SamplesOutput,
} from "./cluster.js";
export { clusterSchema, type ClusterArgs, type ClusterSpec } from "./cluster-spec.js";
export { lookUpCloud, type CloudFacts } from "./support/catalog.js";
