import type { CloudObject, Kind } from "../../openstack/inventory/inventory.js";
import type { Orphan } from "../../openstack/inventory/marked-objects.js";
import type { Ownership } from "../../openstack/inventory/ownership.js";
import type { QuotaUse } from "../../openstack/checks/quotas.js";
import type { Verification } from "../verify/verify-cluster.js";
import type { Failure } from "../../base/failures/failure.js";
import type { TimelineRow } from "../timeline/critical-path.js";
import type { SecretOutputForm, StackOutputs } from "../pulumi/stack-state.js";
import type { PlanRow } from "../pulumi/preview-rows.js";

export interface ClusterServiceOptions {
  /**
   * Environment of engine, plugins and program: PATH with the tools, OS_*, SSH_AUTH_SOCK and
   * Pulumi's variables, as `prepareEnvironment` returns it.
   */
  readonly env: NodeJS.ProcessEnv;
  /** URL of the state backend. */
  readonly backend: string;
  /** Directory with Pulumi.yaml and the stack files. Default: the package's root. */
  readonly projectDirectory?: string;
  /** Module that exports the program. Default: the package's own program. */
  readonly program?: string;
}

/** Cloud, region and project of a cluster. */
export interface CloudPlace {
  /** Name of the cloud in clouds.yaml; without a name, the URL of Keystone. */
  readonly cloud: string;
  /** Region; empty if the cloud has none. */
  readonly region: string;
  /** Project. The name is empty if the identity service does not return it. */
  readonly project: { readonly id: string; readonly name: string };
}

/** Clusters in the stack's state, or the cluster that `up` will create. */
export interface WhichCluster {
  /** Names of the clusters in the state; without any, the name in the settings. */
  readonly clusters: readonly string[];
  /** Identities, 12 hexadecimal digits each. Empty: not created yet, or by an early release. */
  readonly identities: readonly string[];
  /** Whether the state contains any resource. */
  readonly held: boolean;
  /** Location of the clusters. Absent if the cloud does not answer. */
  readonly place?: CloudPlace;
}

/** Signals that stop work on a stack. */
export interface StopSignals {
  /** Aborting cancels gracefully. */
  readonly signal?: AbortSignal;
  /** Aborting kills the engine at once. */
  readonly killSignal?: AbortSignal;
}

/** Options of every operation. */
export interface RunOptions {
  /** Whether the engine first reads the real objects into the state. Default: false. */
  readonly refresh?: boolean;
  /** Number of resources that the engine works on at once. Default: PULUMI_PARALLEL, or else 64. */
  readonly parallel?: number;
  /** Text of the stack's settings, used instead of the file. */
  readonly settings?: string;
}

export interface PreviewOptions extends RunOptions {
  /**
   * Whether to check the settings before the engine starts, and before `up` also whether the
   * cluster fits into the cloud. Default: true. Must be false for a program whose settings do not
   * describe one cluster. "names": checks in the cloud only whether other objects have the
   * cluster's names.
   */
  readonly preflight?: boolean | "names";
}

export interface UpOptions extends PreviewOptions {
  /**
   * Whether to fail, before anything is changed, if `up` would change anything. Costs an extra
   * preview. Default: false.
   */
  readonly expectNoChanges?: boolean;
  /** Whether to write kubeconfig and timeline page, readable by their owner only. Default: true. */
  readonly kubeconfigFile?: boolean;
  /** Whether to fail if something in the finished cluster does not work. Default: true. */
  readonly verify?: boolean;
  /** Milliseconds in which each check of the finished cluster must succeed. Default: 60 000. */
  readonly patience?: number;
}

export interface DestroyOptions extends RunOptions {
  /**
   * Whether to destroy without the cluster's API, because it never answers again. The destroy then
   * finds load balancers by the cluster's identity, and keeps volumes of PersistentVolumes and
   * floating IPs of Services. Default: false: the destroy fails if the API does not answer.
   */
  readonly abandon?: boolean;
  /**
   * Identities of the clusters to destroy, as `destroyPlan` returns them. The destroy throws if the
   * state has other clusters. Default: all clusters in the state.
   */
  readonly identities?: readonly string[];
}

/** Options of operations that only read. */
export interface ReadOptions {
  readonly signal?: AbortSignal;
  /** Text of the stack's settings, used instead of the file. */
  readonly settings?: string;
}

/** Options of the check whether the cluster fits into the cloud. */
export interface PreflightRunOptions extends ReadOptions {
  /** Called once with the quotas that the cluster needs, as far as they can be read. */
  readonly onQuotas?: (quotas: readonly QuotaUse[]) => void;
}

/** Options of reading the stack's outputs. */
export interface OutputsOptions extends ReadOptions {
  /** Form of secret outputs: plain text or "[secret]". Default: plain text. */
  readonly secrets?: SecretOutputForm;
}

/** Options of removing locks. */
export interface UnlockOptions extends Pick<ReadOptions, "settings"> {
  /** Dead holders, as `locks` returned them. Default: none. */
  readonly holders?: readonly string[];
}

/** Options of the destroy plan. */
export interface DestroyPlanOptions extends ReadOptions, Pick<DestroyOptions, "abandon"> {}

export interface UpResult {
  /** Outputs of the stack, each with whether it is secret. */
  readonly outputs: StackOutputs;
  /** Path of the administrator's kubeconfig. Absent if it was not written or is no output. */
  readonly kubeconfigPath?: string;
  /** Path of the timeline page. Absent without a kubeconfig, or if the engine changed nothing. */
  readonly timelinePath?: string;
  /** Result of the check of the finished cluster. Absent if `verify` was false. */
  readonly verification?: Verification;
  /** Resources that the engine worked on, with times. Absent if the engine changed nothing. */
  readonly timeline?: readonly TimelineRow[];
}

export interface PreviewResult {
  /** Changes that `up` would make: a row for each resource. */
  readonly plan: readonly PlanRow[];
}

export interface RefreshResult {
  /** Number of resources that differed from the state. */
  readonly changed: number;
}

/** Objects that a destroy would delete and keep, from the present state and cloud. */
export interface DestroyPlan extends WhichCluster {
  /** Name of the cluster in the cloud; with several clusters, the first. */
  readonly cluster: string;
  readonly place: CloudPlace;
  /** URL of the state backend. */
  readonly backend: string;
  /** Error with which the destroy would be refused. Absent: the destroy would not be refused. */
  readonly protection?: Failure;
  /** Objects to delete, in order of deletion, except the objects in the next three lists. */
  readonly goes: readonly CloudObject[];
  readonly volumes: readonly ClaimedVolume[];
  readonly floatingIps: readonly ServiceFloatingIp[];
  /** Volume snapshots that the cluster's API reports, or that have the cluster's identity. */
  readonly snapshots: readonly VolumeSnapshot[];
  /**
   * Other kept objects: retained objects, and volumes and snapshots that have the cluster's
   * identity, but are not in the state.
   */
  readonly stays?: readonly KeptObject[];
  /** Application credentials of other users, which are kept. Absent if there are none. */
  readonly others?: readonly ForeignCredential[];
  /** Kinds of objects that the cloud does not show to this user. Absent if there are none. */
  readonly hidden?: readonly Kind[];
  /** Reason why a cluster's API could not be asked. Absent if it answered, or was not needed. */
  readonly problem?: string;
}

/** Application credential of another user. Only this user and administrators can delete it. */
export interface ForeignCredential {
  /** ID in Keystone. */
  readonly id: string;
  readonly name: string;
  /** URN of the credential in the state. */
  readonly urn: string;
}

/** Volume of a PersistentVolume. */
export interface ClaimedVolume {
  /** ID in Cinder. */
  readonly id: string;
  readonly name: string;
  readonly gigabytes: number;
  /** Claim as `<namespace>/<name>`. Empty: there is none, or the cluster did not answer. */
  readonly claim: string;
  /**
   * Fate of the volume: "goes" deletes it with its data. "unknown": the cluster did not answer.
   */
  readonly fate: "goes" | "stays" | "unknown";
}

/** Floating IP of a Service of type LoadBalancer. */
export interface ServiceFloatingIp {
  /** ID in Neutron. */
  readonly id: string;
  readonly address: string;
  /** Service as `<namespace>/<name>`. Empty: there is none, or the cluster did not answer. */
  readonly service: string;
  /** Fate of the address: "goes" deletes it. "unknown": the cluster did not answer. */
  readonly fate: "goes" | "stays" | "unknown";
}

/** Snapshot in Cinder of a VolumeSnapshot. */
export interface VolumeSnapshot {
  /** ID in Cinder. Empty until Cinder has the snapshot. */
  readonly id: string;
  /** VolumeSnapshot as `<namespace>/<name>`. Empty: none, or the cluster did not answer. */
  readonly snapshot: string;
  /**
   * ID of the Cinder volume of the snapshot. Empty if the snapshot is pre-provisioned (imported) or
   * if the cluster did not answer.
   */
  readonly volume: string;
  /**
   * Fate of the snapshot: "goes" deletes it with its data. "unknown": the cluster did not answer.
   */
  readonly fate: "goes" | "stays" | "unknown";
}

/** Object that a destroy keeps. */
export interface KeptObject extends CloudObject, Partial<Ownership> {
  /** Whether the object is kept by `retainOnDelete`. Absent: because it cannot be recreated. */
  readonly retained?: true;
}

export interface DestroyResult {
  /** Names of the clusters in the state; without any, the name in the settings. */
  readonly clusters: readonly string[];
  /** Whether the state contained any resource. False: there was nothing to destroy. */
  readonly held: boolean;
  /** Objects that remained after the engine's destroy, and that the sweep deleted. */
  readonly deleted: readonly Orphan[];
  /**
   * Kept objects: retained objects, volumes, snapshots and floating IPs that the cluster's
   * controllers did not delete, and volumes and snapshots with the cluster's identity that are not
   * in the state.
   */
  readonly kept: readonly KeptObject[];
  /** Application credentials of other users, which were kept. Absent if there are none. */
  readonly others?: readonly ForeignCredential[];
  /** Kinds that the cloud does not show, whose objects may remain. Absent if there are none. */
  readonly hidden?: readonly Kind[];
}

/** Machine, with its status in Nova. */
export interface MachineStatus {
  readonly name: string;
  readonly role: string;
  readonly zone: string;
  /** Status in Nova: ACTIVE, SHUTOFF, ...; GONE if there is no such server. */
  readonly server: string;
}

/** Present machines and cluster, or the reason why the cluster could not be checked. */
export type StatusResult = {
  readonly cluster: WhichCluster;
  /** Problems that stop the cluster from working now or later, each with what to do. */
  readonly warnings: readonly string[];
  readonly machines: readonly MachineStatus[];
} & (
  | { readonly verification: Verification; readonly problem?: undefined }
  | { readonly verification?: undefined; readonly problem: Failure }
);
