/** Public interface `stackadm/automation`, for programs that call the cluster operations. */
export type { Progress, Step } from "../base/progress.js";
export type { Finding } from "../cloud/finding.js";
export type { CloudObject, Kind } from "../cloud/inventory.js";
export type { Orphan } from "../cloud/orphans.js";
export type { QuotaUse } from "../cloud/quotas.js";
export type { ClusterSpec } from "../components/spec/cluster-spec.js";
export type { Piece, Toolchain } from "../toolchain/toolchain.js";
export type { Backup, BackupDescription, KeptFile } from "./backup/backup-files.js";
export {
  createBackupService,
  type BackupOptions,
  type BackupRunOptions,
  type BackupService,
  type RestorePlanOptions,
} from "./backup/backup-service.js";
export type { RestorePlan } from "./backup/restore-plan.js";
export { createClusterService, type ClusterService } from "./cluster/cluster-service.js";
export type {
  ClaimedVolume,
  CloudPlace,
  ClusterServiceOptions,
  DestroyOptions,
  DestroyPlan,
  DestroyPlanOptions,
  DestroyResult,
  FitOptions,
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
export {
  ClusterError,
  errorCodes,
  type ErrorCode,
  type ErrorSubject,
} from "./cluster/cluster-error.js";
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
export type { PlanRow } from "./cluster/plan-rows.js";
export type { Secrets, StackOutput, StackOutputs, StateExport } from "./cluster/state.js";
export { VerificationFailed } from "./cluster/proof.js";
export {
  prepareEnvironment,
  type EnvironmentOptions,
  type OperationEnvironment,
} from "./setup/environment.js";
export { parseOutputs, valuesOf, type ClusterOutputs } from "./verify/outputs.js";
export type { Check } from "./verify/check.js";
export type { NodeReport } from "./verify/nodes.js";
export type { Verification } from "./verify/verify.js";
