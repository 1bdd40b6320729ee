/** Exports for other Pulumi programs. */
export { Cluster } from "./cluster.js";
export type { ClusterComponentArgs } from "./cluster-arguments.js";
export { WorkerPool, type WorkerPoolArgs } from "./worker-pool.js";
export { prepare, type PrepareArgs, type PrepareOptions } from "./prepare.js";
export type { ChildKind, Transform, Transforms } from "./pulumi/transforms.js";
export type {
  IngressOutput,
  NodeOutput,
  SamplesOutput,
  SeparateMachineOutputs,
  StackOutputs,
} from "./cluster-outputs.js";
export type { ClusterArgs } from "./config/cluster-spec.js";
export type { CloudFacts } from "./lookup/cloud-lookup.js";
export { localContextOf, type LocalContext } from "./lookup/local-context.js";
export type { ProviderSettings } from "../openstack/auth/provider-settings.js";
