import type { CloudObject, Kind } from "../../cloud/inventory.js";
import type { Orphan } from "../../cloud/orphans.js";
import type { Ownership } from "../../cloud/ownership.js";
import type { QuotaUse } from "../../cloud/quotas.js";
import type { Verification } from "../verify/verify.js";
import type { ClusterError } from "./cluster-error.js";
import type { TimelineRow } from "./critical-path.js";
import type { ClusterEvent } from "./events.js";
import type { Secrets, StackOutputs } from "./state.js";
import type { PlanRow } from "./plan-rows.js";

export interface ClusterServiceOptions {
  /**
   * The environment of engine, plugins and program: PATH with the tools, OS_*, SSH_AUTH_SOCK and Pulumi's variables,
   * as `prepareEnvironment` makes it.
   */
  readonly env: NodeJS.ProcessEnv;
  /** URL of the state backend. */
  readonly backend: string;
  /** Directory with Pulumi.yaml and the stack files; the program runs in it. Default: the package's root. */
  readonly projectDirectory?: string;
  /** Module that exports the program. Default: the package's own. */
  readonly program?: string;
  /** Of the `pulumi` on the path of `env`, as `pulumi version` says it. Default: it is asked at each operation, 0.2 s. */
  readonly engineVersion?: string;
}

/**
 * What the service is at. `repair`: takes away what an interrupted run left half made. `preflight`: asks the cloud whether
 * the cluster fits. `operation`: the engine runs. `verification`: looks at the finished cluster. `sweep`: looks for what is
 * left of a destroyed one.
 */
export type Stage = "repair" | "preflight" | "operation" | "verification" | "sweep";

/** Where in a cloud a cluster lives. */
export interface CloudPlace {
  /** The cloud's name in clouds.yaml; of one that has none, the address of its identity service. */
  readonly cloud: string;
  /** Empty where the cloud has none. */
  readonly region: string;
  /** The name is empty where the identity service does not tell it. */
  readonly project: { readonly id: string; readonly name: string };
}

/** Whose cluster the stack holds, or is to hold. */
export interface WhichCluster {
  /** The names in the cloud of all clusters that the state holds; of none: the name that the settings say. */
  readonly clusters: readonly string[];
  /** 12 hexadecimal digits for each cluster. Empty for one that an earlier release made, or that has none yet. */
  readonly identities: readonly string[];
  /** Whether the state holds anything. */
  readonly held: boolean;
  /** Where it lives. Absent when the cloud cannot be asked. */
  readonly place?: CloudPlace;
}

export interface RunOptions {
  /** Whose cluster it is: once, before anything is changed. Costs a preview one look at the state. */
  readonly onCluster?: (which: WhichCluster) => void;
  /** What the engine does, as it does it. */
  readonly onEvent?: (event: ClusterEvent) => void;
  /** A sentence for people: what was repaired before the operation, warnings, and what the program prints. */
  readonly onNote?: (text: string) => void;
  /** A stage begins; with a detail: what happens in it now. */
  readonly onStage?: (stage: Stage, detail?: string) => void;
  /** Cancels in good order. */
  readonly signal?: AbortSignal;
  /** Ends at once. */
  readonly killSignal?: AbortSignal;
  /** Read the real world before comparing. Default: false. */
  readonly refresh?: boolean;
  /** On how many resources the engine works at once. Default: PULUMI_PARALLEL of the environment, else 64. */
  readonly parallel?: number;
  /** The stack's settings as text instead of its file's. */
  readonly settings?: string;
}

export interface PreviewOptions extends RunOptions {
  /**
   * Check the settings before the engine starts, and before `up` whether the cluster fits into the cloud. Default: true.
   * A program whose settings do not describe one cluster needs false. "names": only whether names are somebody else's is asked.
   */
  readonly preflight?: boolean | "names";
}

export interface UpOptions extends PreviewOptions {
  /** Fail where anything would change, before it is changed: costs a look of the engine before. Default: false. */
  readonly expectNoChanges?: boolean;
  /** Write the administrator's kubeconfig, and where the time went, to files that only their owner reads. Default: true. */
  readonly kubeconfigFile?: boolean;
  /** Look at the finished cluster, and fail when something in it does not work. Default: true. */
  readonly verify?: boolean;
  /** Milliseconds in which each check of the finished cluster must succeed. Default: 60 000. */
  readonly patience?: number;
}

export interface DestroyOptions extends RunOptions {
  /**
   * Skip what needs the cluster's API, for a cluster whose API is gone for good: its load balancers are found by the
   * cluster's identity, its volumes and its Services' floating IPs stay. Default: false, and a cluster whose API does not answer is left as it is.
   */
  readonly abandon?: boolean;
  /**
   * Identities of the clusters that are meant, as `destroyPlan` showed them: when the state holds others, nothing is changed.
   * Default: whatever the state holds is meant.
   */
  readonly identities?: readonly string[];
}

/** Options of a look. */
export interface LookOptions {
  readonly signal?: AbortSignal;
  /** The stack's settings as text instead of its file's. */
  readonly settings?: string;
}

/** Options of a look whether the cluster fits into the cloud. */
export interface FitOptions extends LookOptions {
  /** Limit and use of the quotas that the cluster needs anything of: once, as far as they can be read. */
  readonly onQuotas?: (quotas: readonly QuotaUse[]) => void;
}

/** Options of a look at the stack's outputs. */
export interface OutputsOptions extends LookOptions {
  /** Secret outputs in clear, or as "[secret]". Default: in clear. */
  readonly secrets?: Secrets;
}

/** Options of taking locks away. */
export interface UnlockOptions extends LookOptions {
  /** Who is known to be gone, as `locks` named them. Default: nobody, and a lock that somebody has is an error. */
  readonly holders?: readonly string[];
}

/** Options of a look at what a destroy would do. */
export interface DestroyPlanOptions extends LookOptions, Pick<DestroyOptions, "abandon"> {}

export interface UpResult {
  /** The stack's outputs, and which of them are secret. */
  readonly outputs: StackOutputs;
  /** Where the administrator's kubeconfig lies. Absent when it was not to be written, or is no output. */
  readonly kubeconfigPath?: string;
  /** Where the page lies that says where the time went: beside the kubeconfig. Absent as that is, or when nothing was to be done. */
  readonly timelinePath?: string;
  /** What was seen of the finished cluster. Absent when nobody was to look. */
  readonly verification?: Verification;
  /** On what the engine worked, and when. Absent when nothing was to be done. */
  readonly timeline?: readonly TimelineRow[];
}

export interface PreviewResult {
  /** What `up` would do, a row for each resource that is not left as it is. */
  readonly plan: readonly PlanRow[];
}

export interface RefreshResult {
  /** How many resources differ from what the state said. */
  readonly changed: number;
}

/** What a destroy would take away, and what it would leave, as state and cloud are now. */
export interface DestroyPlan extends WhichCluster {
  /** The cluster's name in the cloud; of several, the first's. */
  readonly cluster: string;
  readonly place: CloudPlace;
  /** URL of the backend that has the state. */
  readonly backend: string;
  /** Why the cluster would be refused. Absent when it would not. */
  readonly protection?: ClusterError;
  /** What goes, in the order in which it is deleted, without volumes of claims and floating IPs of Services. */
  readonly goes: readonly CloudObject[];
  readonly volumes: readonly ClaimedVolume[];
  readonly floatingIps: readonly ServiceFloatingIp[];
  /** As far as the cluster's API says: the project's inventory has none. */
  readonly snapshots: readonly VolumeSnapshot[];
  /** What stays besides: what the program has stay, and volumes and snapshots that only a mark says are the cluster's. Absent when there is none. */
  readonly stays?: readonly KeptObject[];
  /** Application credentials that stay, because they are another user's. Absent when there are none. */
  readonly others?: readonly OthersCredential[];
  /** Kinds that the cloud does not show: what there is of them is not known. Absent when there are none. */
  readonly hidden?: readonly Kind[];
  /** Why a cluster's API could not say what becomes of these. Absent when it did, or need not be asked. */
  readonly problem?: string;
}

/** An application credential of a cluster's that another user made, who alone can read and delete it. */
export interface OthersCredential {
  /** ID in Keystone. */
  readonly id: string;
  readonly name: string;
  /** By which the state holds it. */
  readonly urn: string;
}

/** A volume of a PersistentVolume. */
export interface ClaimedVolume {
  /** ID in Cinder. */
  readonly id: string;
  readonly name: string;
  readonly gigabytes: number;
  /** Its claim, as `<namespace>/<name>`. Empty when it has none, or the cluster could not be asked. */
  readonly claim: string;
  /** Whether it goes with its data. Unknown: the cluster, which alone knows reclaim policies, does not answer. */
  readonly fate: "goes" | "stays" | "unknown";
}

/** The floating IP of a Service of type LoadBalancer. */
export interface ServiceFloatingIp {
  /** ID in Neutron. */
  readonly id: string;
  readonly address: string;
  /** Its Service, as `<namespace>/<name>`. Empty when none has it, or the cluster could not be asked. */
  readonly service: string;
  /** Whether it goes. Unknown: the cluster, which alone knows what is to be kept, does not answer. */
  readonly fate: "goes" | "stays" | "unknown";
}

/** What a VolumeSnapshot keeps in Cinder. */
export interface VolumeSnapshot {
  /** ID in Cinder. Empty as long as there is none. */
  readonly id: string;
  /** The VolumeSnapshot, as `<namespace>/<name>`. Empty when it has none, or the cluster could not be asked. */
  readonly snapshot: string;
  /** ID in Cinder of the volume that it is of. Empty when it was brought, or the cluster could not be asked. */
  readonly volume: string;
  /** Whether it goes with its data. Unknown: the cluster, which alone knows deletion policies, does not answer. */
  readonly fate: "goes" | "stays" | "unknown";
}

/** What a destroy leaves. */
export interface KeptObject extends CloudObject, Partial<Ownership> {
  /** The program has it stay: `retainOnDelete`. Absent: it cannot be made again. */
  readonly retained?: true;
}

export interface DestroyResult {
  /** The names in the cloud of all clusters that the state held; of none: the name that the settings say. */
  readonly clusters: readonly string[];
  /** Whether the state held anything. When not, nothing was there to be destroyed. */
  readonly held: boolean;
  /** What the cluster's controllers had left, and the sweep deleted. */
  readonly deleted: readonly Orphan[];
  /**
   * What stays in the project: what the program has stay, volumes with their data and floating IPs of Services that were kept on
   * purpose or of which the cluster could not be asked, and volumes that have its mark and that the state does not hold.
   */
  readonly kept: readonly KeptObject[];
  /** Application credentials that stay, because they are another user's. Absent when there are none. */
  readonly others?: readonly OthersCredential[];
  /** Kinds that the cloud does not show: whether anything of them is left is not known. Absent when there are none. */
  readonly hidden?: readonly Kind[];
}

/** A machine as Nova sees it. */
export interface MachineStatus {
  readonly name: string;
  readonly role: string;
  readonly zone: string;
  /** Nova's word: ACTIVE, SHUTOFF, ... GONE when there is no such server. */
  readonly server: string;
}

/** Machines and cluster as they are now, or why the cluster could not be looked at. */
export type StatusResult = {
  readonly cluster: WhichCluster;
  /** What will keep the cluster from working, or does, while all else looks well; each says what to do. */
  readonly warnings: readonly string[];
  readonly machines: readonly MachineStatus[];
} & (
  | { readonly verification: Verification; readonly problem?: undefined }
  | { readonly verification?: undefined; readonly problem: ClusterError }
);
