/** Exports for other Pulumi programs. */
export { Cluster, type ClusterComponentArgs } from "./cluster.js";
export { WorkerPool, type WorkerPoolArgs } from "./worker-pool.js";
export { requireServiceUser } from "./identity/check-service-user-login.js";
export { requiredLookups } from "./cloud-requirements.js";
export type { ChildKind, Transform, Transforms } from "./pulumi/transforms.js";
export type { IngressOutput, NodeOutput, SamplesOutput } from "./cluster-outputs.js";
export { clusterSchema, type ClusterArgs, type ClusterSpec } from "./config/cluster-spec.js";
export { lookUpCloud, type CloudFacts } from "./lookup/cloud-lookup.js";
export { localContextOf, type LocalContext } from "./lookup/local-context.js";
export type { ProviderSettings } from "../openstack/auth/provider-settings.js";
export { withSiteDefaults } from "./config/site-defaults.js";
