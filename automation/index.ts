/** What tools that embed the cluster operations may import: `stackadm/automation`. */
export { createClusterService, type ClusterService } from "./cluster/cluster-service.js";
export type {
  ClaimedVolume,
  CloudPlace,
  ClusterServiceOptions,
  DestroyOptions,
  DestroyPlan,
  DestroyPlanOptions,
  DestroyResult,
  KeptObject,
  LookOptions,
  MachineStatus,
  OthersCredential,
  OutputsOptions,
  PreviewOptions,
  PreviewResult,
  RefreshResult,
  RunOptions,
  ServiceFloatingIp,
  Stage,
  StatusResult,
  UnlockOptions,
  UpOptions,
  UpResult,
  VolumeSnapshot,
  WhichCluster,
} from "./cluster/options.js";
export { ClusterError, type ErrorCode } from "./cluster/cluster-error.js";
export {
  createOrphanService,
  type DeleteOrphansOptions,
  type FoundOrphans,
  type OrphanService,
  type OrphanServiceOptions,
  type OrphansOf,
  type OrphansToo,
} from "./cluster/orphan-service.js";
export type { ClusterEvent } from "./cluster/events.js";
export type { Span, TimelineRow } from "./cluster/critical-path.js";
export type { StackOutputs } from "./cluster/state.js";
export { VerificationFailed } from "./cluster/proof.js";
export { prepareEnvironment, type OperationEnvironment } from "./setup/environment.js";
export { parseOutputs, valuesOf, type ClusterOutputs } from "./verify/outputs.js";
export type { Check } from "./verify/check.js";
export type { Verification } from "./verify/verify.js";
