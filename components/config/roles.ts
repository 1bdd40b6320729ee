import type { AddonImageName } from "../../base/versions/container-images.js";
import { bastionGroupDefinition } from "./machines/bastion.js";
import { etcdGroupDefinition } from "./machines/etcd.js";
import type { GroupAtPath, MachineGroupSpec } from "./machines/group-options.js";
import type { SeparateGroupDefinition } from "./machines/separate-group-definition.js";

/**
 * Arguments of each role whose machines are not nodes. The arguments, the group and its component
 * all have the name of the role (components/separate-groups.ts).
 */
export const separateGroupDefinitions = {
  bastion: bastionGroupDefinition,
  etcd: etcdGroupDefinition,
} satisfies Record<string, SeparateGroupDefinition>;
type Rows = typeof separateGroupDefinitions;

/** Role of machines that are not nodes. */
export type SeparateRole = keyof Rows;

/** Role of a machine in the cluster. */
export type MachineRole = "control-plane" | "worker" | SeparateRole;

/** Label of worker nodes. Its value is the name of the worker pool. */
export const poolLabel = "stackadm.io/pool";

/** Step that runs on another machine before a machine's server is deleted. */
export type LeaveStep = "drain" | "remove-etcd-member" | "keep-majority";

/**
 * Check of a machine in the verification of a cluster (automation/verify/role-checks.ts). The
 * verification also checks that nodes are Ready.
 */
export type RoleCheck = "etcd-pod" | "etcd-health" | "login";

/**
 * All facts that depend on a machine's role. Other code reads this row instead of comparing roles.
 */
export interface RoleRow {
  /** Name of the role in the security group's description. */
  readonly title: string;
  /**
   * Whether machines with the role are Kubernetes nodes: they run pods, and are in the security
   * group of all nodes.
   */
  readonly node: boolean;
  /**
   * Whether SSH from outside goes through a machine with the role to all other machines. In a
   * cluster without such a machine, SSH goes through a control plane.
   */
  readonly sshEntry: boolean;
  /**
   * Roles whose machines may connect to machines with this role. Empty for nodes, because all nodes
   * may connect to each other.
   */
  readonly peers: readonly MachineRole[];
  /**
   * Whether machines with the role run etcd members. A majority of members must always run, so the
   * machines are changed one after another.
   */
  readonly runsEtcd: boolean;
  /**
   * Images in kubeadm's list that machines with the role need, as names or regular expressions.
   * `all`: every image in the list.
   */
  readonly kubeadmImages: "all" | readonly string[];
  /**
   * Images of add-ons that machines with the role need, in the order of use. All nodes also need
   * the images of the pod network and of Cinder CSI (machine/early-images.ts).
   */
  readonly addonImages: readonly AddonImageName[];
  /**
   * Label of nodes with the role. The program sets the label of worker pools. kubeadm sets the
   * labels of other roles.
   */
  readonly label?: string;
  /**
   * Kind of credentials that a joining machine gets
   * (kubeadm/scripts/programs/issue-join-credentials.sh, etcd/scripts/issue-etcd-certificates.sh).
   * Machines with `certificates` run an API server.
   */
  readonly grant: "token" | "certificates" | "membership" | "nothing";
  /** Steps before a machine's server is deleted. Empty: no step. */
  readonly leaves: readonly LeaveStep[];
  readonly proofs: readonly RoleCheck[];
  /**
   * Whether a replaced machine keeps its SSH host key. A new key would break connections. Scripts
   * that run before a machine is deleted have the key from an earlier run. Joining machines get all
   * keys before any machine is replaced. A new key would not increase security, because root on
   * these machines has access to the whole cluster.
   */
  readonly keepsHostKey: boolean;
  /** Taints that kubeadm sets on nodes with the role. */
  readonly taints: readonly string[];
}

/**
 * Facts about each role, in a cluster with etcd on the control planes. For other clusters, see
 * {@link getRoleTable}.
 */
export const roleTable: Readonly<Record<MachineRole, RoleRow>> = {
  "control-plane": {
    title: "control-plane",
    node: true,
    sshEntry: false,
    peers: [],
    runsEtcd: true,
    kubeadmImages: "all",
    addonImages: [
      ...(["cloudControllerManager", "livenessProbe"] as const),
      ...(["csiAttacher", "csiProvisioner", "csiResizer"] as const),
    ],
    label: "node-role.kubernetes.io/control-plane",
    grant: "certificates",
    leaves: ["drain", "remove-etcd-member"],
    proofs: ["etcd-pod"],
    keepsHostKey: true,
    taints: ["node-role.kubernetes.io/control-plane=:NoSchedule"],
  },
  worker: {
    title: "worker",
    node: true,
    sshEntry: false,
    peers: [],
    runsEtcd: false,
    kubeadmImages: ["kube-proxy", "pause"],
    addonImages: ["agnhost", "livenessProbe"],
    label: poolLabel,
    grant: "token",
    leaves: ["drain"],
    proofs: [],
    keepsHostKey: false,
    taints: [],
  },
  bastion: {
    title: "bastion",
    node: false,
    sshEntry: true,
    peers: [],
    runsEtcd: false,
    kubeadmImages: [],
    addonImages: [],
    grant: "nothing",
    leaves: [],
    proofs: ["login"],
    keepsHostKey: false,
    taints: [],
  },
  etcd: {
    title: "etcd",
    node: false,
    sshEntry: false,
    peers: ["control-plane", "etcd"],
    runsEtcd: true,
    kubeadmImages: ["etcd", "pause"],
    addonImages: [],
    grant: "membership",
    leaves: ["keep-majority"],
    proofs: ["etcd-health"],
    keepsHostKey: true,
    taints: [],
  },
};

/** Returns all roles in the order of the table. */
const roles = (): MachineRole[] => Object.keys(roleTable) as MachineRole[];

/**
 * Returns whether machines with the role can run etcd. A majority of such machines must always run.
 */
export const needsMajority = (role: string): boolean =>
  roles().some((one) => one === role && roleTable[one].runsEtcd);

/** Returns the roles whose machines are nodes. */
export const listNodeRoles = (): MachineRole[] => roles().filter((role) => roleTable[role].node);

/** Returns the roles whose machines are not nodes. */
export const listSeparateRoles = (): SeparateRole[] =>
  Object.keys(separateGroupDefinitions) as SeparateRole[];

/**
 * Returns the roles that a cluster's machines can have: all roles of nodes, and the roles in
 * `separate`.
 */
export const listPossibleRoles = (separate: readonly MachineRole[]): MachineRole[] =>
  roles().filter((role) => roleTable[role].node || separate.includes(role));

/** Arguments of the groups of machines that are not nodes. */
export type SeparateGroupSpecs = {
  readonly [Of in SeparateRole]?: Parameters<Rows[Of]["group"]>[0] | undefined;
};

/** Returns the groups of machines that are not nodes, in the order of the table. */
export const listSeparateGroupSpecs = (
  spec: SeparateGroupSpecs,
): readonly (GroupAtPath & { readonly role: SeparateRole })[] =>
  listSeparateRoles().flatMap((role) => {
    const written = spec[role];
    const { group } = separateGroupDefinitions[role] as {
      readonly group: (of: unknown) => MachineGroupSpec;
    };
    return written === undefined ? [] : [{ role, path: [role], group: group(written) }];
  });

/** Facts about control planes in a cluster whose etcd members run on separate machines. */
const withoutEtcd: RoleRow = {
  ...roleTable["control-plane"],
  runsEtcd: false,
  kubeadmImages: ["kube-[a-z-]+", "coredns", "pause"],
  leaves: ["drain"],
  proofs: [],
};

/** Returns the role table of a cluster. */
export const getRoleTable = ({ etcd }: { readonly etcd?: object | undefined }): typeof roleTable =>
  etcd ? { ...roleTable, "control-plane": withoutEtcd } : roleTable;
