import type { z } from "zod";
import type { CloudObject, CloudObjectKind } from "../../openstack/inventory/inventory.js";
import type { OwnedObject } from "../../openstack/inventory/marked-objects.js";
import type { Ownership } from "../../openstack/inventory/ownership.js";
import type { QuotaRequirement } from "../../openstack/checks/quotas.js";
import type { Verification } from "../verify/verify-cluster.js";
import type { Redactor } from "../../base/terminal/redact-secrets.js";
import type { Failure } from "../../base/failures/failure.js";
import type { TimelineRow } from "../timeline/critical-path.js";
import type { SecretOutputForm, StackOutputs } from "../pulumi/stack-state.js";
import type { PlanRow } from "../pulumi/preview-rows.js";
import type { cloudPlaceSchema, Immutable, whichClusterSchema } from "./event-schemas.js";

export interface ClusterServiceOptions {
  /**
   * Environment of the engine, the plugins and the program: PATH with the tools, OS_*,
   * SSH_AUTH_SOCK and Pulumi's variables. `prepareEnvironment` returns such an environment.
   * Variables of Pulumi that change what an operation does are not passed on.
   */
  readonly env: NodeJS.ProcessEnv;
  /**
   * URL of the state backend. Operations fail with INVALID_USAGE if PULUMI_BACKEND_URL in `env` names
   * another backend. Default: PULUMI_BACKEND_URL in `env`, else `backend.url` in Pulumi.yaml, else the
   * backend that `pulumi login` selected, else a directory in the user's state directory.
   */
  readonly backend?: string;
  /** Directory with Pulumi.yaml and the stack files. Default: the package's root. */
  readonly projectDirectory?: string;
  /** Module that exports the program. Default: the package's own program. */
  readonly program?: string;
}

/** Options of a service whose backend is chosen. */
export type ServiceOptions = ClusterServiceOptions & { readonly backend: string };

/** Cloud, region and project in which a cluster is. */
export type CloudPlace = Immutable<z.infer<typeof cloudPlaceSchema>>;

/** Clusters in the stack's state. If there are none, the cluster that `up` will create. */
export type WhichCluster = Immutable<z.infer<typeof whichClusterSchema>>;

/** Signals that stop work on a stack. */
export interface StopSignals {
  /** Signal that cancels the work: running steps finish, no step starts. */
  readonly signal?: AbortSignal;
  /** Signal that kills the engine at once. */
  readonly killSignal?: AbortSignal;
}

/** Options of a request about one stack. */
export interface StackOperationOptions extends RunOptions, StopSignals {
  /** Receives the secrets of the login to the cloud. Default: no one. */
  readonly redactor?: Pick<Redactor, "add"> | undefined;
}

/** Options that every operation has. */
export interface RunOptions {
  /** Whether the engine first updates the state from the real objects. Default: false. */
  readonly refresh?: boolean;
  /** Number of resources that the engine works on concurrently. Default: PULUMI_PARALLEL, or 64. */
  readonly parallel?: number;
  /** Text of the stack's settings, in place of the file. Default: the file is read. */
  readonly settings?: string;
}

export interface PreviewOptions extends RunOptions {
  /**
   * Whether to run checks before the engine starts. The checks concern the settings and, for `up`,
   * whether the cluster fits into the cloud. Default: true. With "names", the check in the cloud
   * only searches for other objects with the cluster's names. Must be false for a program whose
   * settings do not describe one cluster.
   */
  readonly preflight?: boolean | "names";
}

export interface UpOptions extends PreviewOptions {
  /**
   * Whether `up` first runs a preview, and fails without a change if the preview contains changes.
   * Default: false.
   */
  readonly expectNoChanges?: boolean;
  /**
   * Whether the kubeconfig and the timeline page are written. Only their owner can read them.
   * Default: true.
   */
  readonly kubeconfigFile?: boolean;
  /** Whether `up` fails if a part of the finished cluster does not work. Default: true. */
  readonly verify?: boolean;
  /** Time limit in milliseconds for each check of the finished cluster. Default: 60 000. */
  readonly patience?: number;
}

export interface DestroyOptions extends RunOptions {
  /**
   * Whether to destroy without the cluster's API, because the API will never answer again. The
   * destroy then finds load balancers by the cluster's identity, and keeps volumes of
   * PersistentVolumes and floating IPs of Services. Default: false. The destroy then fails if the
   * API does not answer.
   */
  readonly abandon?: boolean;
  /**
   * Identities of the clusters to destroy, as `destroyPlan` returns them. The destroy throws if the
   * state contains other clusters. Default: all clusters in the state.
   */
  readonly identities?: readonly string[];
}

/** Options of operations that only read. */
export interface ReadOptions {
  readonly signal?: AbortSignal;
  /** Text of the stack's settings, in place of the file. Default: the file is read. */
  readonly settings?: string;
}

/** Options of the check whether the cluster fits into the cloud. */
export interface PreflightRunOptions extends ReadOptions {
  /** Receives the quotas that the cluster needs and that the user can read. Called once. */
  readonly onQuotas?: (quotas: readonly QuotaRequirement[]) => void;
}

/** Options of reading the stack's outputs. */
export interface OutputsOptions extends ReadOptions {
  /**
   * Form of secret outputs: "in clear" is plain text, "hidden" is "[secret]". Default: "in clear".
   */
  readonly secrets?: SecretOutputForm;
}

/** Options for the removal of locks. */
export interface UnlockOptions extends Pick<ReadOptions, "settings"> {
  /**
   * Texts from `locks` about lock holders that no longer run. The caller must know that these
   * holders are dead. Default: none.
   */
  readonly holders?: readonly string[];
}

export interface DestroyPlanOptions extends ReadOptions, Pick<DestroyOptions, "abandon"> {}

export interface UpResult {
  /** Outputs of the stack. Each output has a field that marks secret values. */
  readonly outputs: StackOutputs;
  /**
   * Path of the administrator's kubeconfig. Absent if the file was not written, or if the outputs
   * have no kubeconfig.
   */
  readonly kubeconfigPath?: string;
  /**
   * Path of the timeline page. Absent if no kubeconfig was written, or if the engine changed
   * nothing.
   */
  readonly timelinePath?: string;
  /** Result of the check of the finished cluster. Absent if `verify` was false. */
  readonly verification?: Verification;
  /** Resources that the engine worked on, and when. Absent if the engine changed nothing. */
  readonly timeline?: readonly TimelineRow[];
}

export interface PreviewResult {
  /** Changes that `up` would make, one row for each resource. */
  readonly plan: readonly PlanRow[];
}

export interface RefreshResult {
  /** Number of resources that differed from the state. */
  readonly changed: number;
}

/** Objects that a destroy would delete and keep, according to the present state and cloud. */
export interface DestroyPlan extends WhichCluster {
  /** Name of the cluster in the cloud. If there are several clusters, the name of the first. */
  readonly cluster: string;
  readonly place: CloudPlace;
  /** URL of the state backend. */
  readonly backend: string;
  /**
   * Error that a destroy would throw, because the cluster is protected. Absent if a destroy is
   * allowed.
   */
  readonly protection?: Failure;
  /**
   * Objects to delete, in the order of deletion, without the objects in `volumes`, `floatingIps`
   * and `snapshots`.
   */
  readonly goes: readonly CloudObject[];
  readonly volumes: readonly ClaimedVolume[];
  readonly floatingIps: readonly ServiceFloatingIp[];
  /** Volume snapshots that the cluster's API reports, or that have the cluster's identity. */
  readonly snapshots: readonly VolumeSnapshot[];
  /**
   * Other objects that are kept: retained objects, and volumes and snapshots that have the
   * cluster's identity but are not in the state. Absent if there are none.
   */
  readonly stays?: readonly KeptObject[];
  /** Application credentials of other users, which are kept. Absent if there are none. */
  readonly others?: readonly ForeignCredential[];
  /** Kinds of objects that the cloud does not let this user list. Absent if there are none. */
  readonly hidden?: readonly CloudObjectKind[];
  /** Reason why a cluster's API did not answer. Absent if the API answered or was not needed. */
  readonly problem?: string;
}

/** Application credential of another user. Only that user and administrators can delete it. */
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
  /**
   * Name of the PersistentVolumeClaim, as `<namespace>/<name>`. Empty if there is none, or if the
   * cluster did not answer.
   */
  readonly claim: string;
  /**
   * Fate of the volume. "goes": it is deleted with its data. "stays": it is kept.
   * "unknown": the cluster did not answer.
   */
  readonly fate: "goes" | "stays" | "unknown";
}

/** Floating IP of a Service of type LoadBalancer. */
export interface ServiceFloatingIp {
  /** ID in Neutron. */
  readonly id: string;
  readonly address: string;
  /**
   * Name of the Service, as `<namespace>/<name>`. Empty if there is none, or if the cluster did not
   * answer.
   */
  readonly service: string;
  /**
   * Fate of the address. "goes": it is deleted. "stays": it is kept. "unknown": the cluster
   * did not answer.
   */
  readonly fate: "goes" | "stays" | "unknown";
}

/** Snapshot in Cinder that belongs to a VolumeSnapshot. */
export interface VolumeSnapshot {
  /** ID in Cinder. Empty until the snapshot exists in Cinder. */
  readonly id: string;
  /**
   * Name of the VolumeSnapshot, as `<namespace>/<name>`. Empty if there is none, or if the cluster
   * did not answer.
   */
  readonly snapshot: string;
  /**
   * ID of the Cinder volume from which the snapshot was taken. Empty if the snapshot is
   * pre-provisioned (imported), or if the cluster did not answer.
   */
  readonly volume: string;
  /**
   * Fate of the snapshot. "goes": it is deleted with its data. "stays": it is kept.
   * "unknown": the cluster did not answer.
   */
  readonly fate: "goes" | "stays" | "unknown";
}

/** Object that a destroy keeps. */
export interface KeptObject extends CloudObject, Partial<Ownership> {
  /**
   * Whether the object is kept because of `retainOnDelete`. Absent if the object is kept because it
   * cannot be recreated.
   */
  readonly retained?: true;
}

export interface DestroyResult {
  /** Names of the clusters in the state. If there are none, the name in the settings. */
  readonly clusters: readonly string[];
  /** Whether the state contained any resource. False: there was nothing to destroy. */
  readonly held: boolean;
  /**
   * Objects that the engine did not delete. The search after the engine's destroy found and deleted
   * these objects.
   */
  readonly deleted: readonly OwnedObject[];
  /**
   * Objects that were kept: retained objects; volumes, snapshots and floating IPs that the
   * cluster's controllers did not delete; and volumes and snapshots that have the cluster's
   * identity but are not in the state.
   */
  readonly kept: readonly KeptObject[];
  /** Application credentials of other users, which were kept. Absent if there are none. */
  readonly others?: readonly ForeignCredential[];
  /**
   * Kinds of objects that the cloud does not let this user list. Such objects may remain. Absent if
   * there are none.
   */
  readonly hidden?: readonly CloudObjectKind[];
}

/** Machine of the cluster, with the status of its server. */
export interface MachineStatus {
  readonly name: string;
  readonly role: string;
  readonly zone: string;
  /** Status of the server in Nova: ACTIVE, SHUTOFF, ... GONE: the server does not exist. */
  readonly server: string;
}

/** Machines and cluster at present, or the reason why the cluster could not be checked. */
export type StatusResult = {
  readonly cluster: WhichCluster;
  /** Problems that stop the cluster now or later. Each sentence says what to do. */
  readonly warnings: readonly string[];
  readonly machines: readonly MachineStatus[];
  /**
   * Servers that do not run, and objects of the state that the cloud does not have. Each sentence
   * names the repair.
   */
  readonly cloudProblems: readonly string[];
} & (
  | { readonly verification: Verification; readonly problem?: undefined }
  | { readonly verification?: undefined; readonly problem: Failure }
);
