/** Exports for other programs. */
export { Cluster, type ClusterComponentArgs } from "./cluster.js";
export { requireServiceUser } from "./identity/service-user.js";
export { wantedOf } from "./needs.js";
export type { ChildKind, Transform, Transforms } from "./support/transform.js";
export type { IngressOutput, NodeOutput, SamplesOutput } from "./outputs.js";
export { clusterSchema, type ClusterArgs, type ClusterSpec } from "./spec/cluster-spec.js";
export { lookUpCloud, type CloudFacts } from "./support/catalog.js";
export { operatorOf, type Operator } from "./support/operator.js";
export { withSiteDefaults } from "./site.js";
