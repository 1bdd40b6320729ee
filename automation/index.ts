/** Public interface `stackadm/automation`, for programs that call the cluster operations. */
export type { Progress, Step } from "../base/progress.js";
export type { Finding } from "../openstack/checks/finding.js";
export type { CloudObject, CloudObjectKind as Kind } from "../openstack/inventory/inventory.js";
export type { OwnedObject as Orphan } from "../openstack/inventory/marked-objects.js";
export type { QuotaRequirement as QuotaUse } from "../openstack/checks/quotas.js";
export type { ClusterSpec } from "../components/config/cluster-spec.js";
export type { Toolchain, ToolchainProgram as Piece } from "./toolchain/toolchain.js";
export type { Backup, BackupDescription, BackupFile } from "./backup/backup-files.js";
export {
  createBackupService,
  type BackupOptions,
  type BackupRunOptions,
  type BackupService,
  type RestorePlanOptions,
} from "./backup/backup-service.js";
export type { RestorePlan } from "./backup/restore-plan.js";
export { createClusterService, type ClusterService } from "./cluster-service.js";
export type {
  OperationEvent,
  OperationEventBody,
  StartedOperation,
} from "./engine/operation-events.js";
export type { OperationName, Operations } from "./operations/operations.js";
export type {
  ClaimedVolume,
  CloudPlace,
  ClusterServiceOptions,
  DestroyOptions,
  DestroyPlan,
  DestroyPlanOptions,
  DestroyResult,
  PreflightRunOptions,
  KeptObject,
  ReadOptions,
  MachineStatus,
  ForeignCredential,
  OutputsOptions,
  PreviewOptions,
  PreviewResult,
  RefreshResult,
  RunOptions,
  ServiceFloatingIp,
  StatusResult,
  UnlockOptions,
  UpOptions,
  UpResult,
  VolumeSnapshot,
  WhichCluster,
} from "./engine/operation-options.js";
export {
  Failure as ClusterError,
  type FailureSubject as ErrorSubject,
} from "../base/failures/failure.js";
export {
  failureCodes as errorCodes,
  type FailureCode as ErrorCode,
} from "../base/failures/failure-codes.js";
export {
  createOrphanService,
  type DeleteOrphansOptions,
  type FoundOrphans,
  type OrphanCleaner,
  type OrphanServiceOptions,
  type OrphanSelector,
  type OrphanDataDeletion,
} from "./orphans/orphan-service.js";
export type { Span, TimelineRow } from "./timeline/critical-path.js";
export type { PlanRow } from "./pulumi/preview-rows.js";
export type {
  SecretOutputForm,
  StackOutput,
  StackOutputs,
  StateExport,
} from "./pulumi/stack-state.js";
export { VerificationFailed } from "./health/cluster-health.js";
export type { BackendChoice, BackendSource } from "./setup/choose-backend.js";
export {
  prepareEnvironment,
  type EnvironmentOptions,
  type OperationEnvironment,
} from "./setup/operation-environment.js";
export { parseOutputs, outputValues, type ClusterOutputs } from "./verify/cluster-outputs.js";
export type { Check } from "./verify/check.js";
export type { NodeReport } from "./verify/read-nodes.js";
export type { Verification } from "./verify/verify-cluster.js";
