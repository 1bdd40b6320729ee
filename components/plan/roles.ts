import type { ImageName } from "../../base/images.js";

/** Role of a machine in the cluster. */
export type Role = "control-plane" | "worker" | "bastion" | "etcd";

/** Label of a worker's node, whose value is the worker's pool. */
export const poolLabel = "stackadm.io/pool";

/** Step that another machine runs for a leaving one, before the leaving one's server is deleted. */
export type Leave = "drain" | "remove-etcd-member" | "keep-majority";

/**
 * Check of a machine when the cluster is verified, besides whether its node is Ready
 * (automation/verify/machines.ts).
 */
export type Proof = "etcd-pod" | "etcd-health" | "login";

/** Everything that depends on a machine's role. No other code tests for a role. */
export interface RoleRow {
  /** Name of the role in the security group's description. */
  readonly title: string;
  /**
   * Whether its machines are nodes: in the security group of all nodes, open to each other, with
   * pods.
   */
  readonly node: boolean;
  /**
   * Whether its machines have etcd's data. Most of them must then live, so they change in order.
   */
  readonly runsEtcd: boolean;
  /** Images of kubeadm's list that its pods need, by name; `all`: every one. */
  readonly kubeadmImages: "all" | readonly string[];
  /**
   * Images of add-ons that its pods need, in order of use, besides those of the pod network and
   * storage.
   */
  readonly addonImages: readonly ImageName[];
  /** Label that identifies its nodes. The program sets that of a pool, kubeadm all others. */
  readonly label?: string;
  /**
   * Credentials for a joining machine (kubeadm/scripts/mint.sh, etcd/scripts/mint.sh). A machine
   * with `certificates` serves the API.
   */
  readonly grant: "token" | "certificates" | "membership" | "nothing";
  /** Steps before a server is deleted. Empty: it is deleted without any. */
  readonly leaves: readonly Leave[];
  readonly proofs: readonly Proof[];
  /**
   * Whether a replaced machine keeps its host key. Root on a control plane or on etcd's machines
   * has access to the whole cluster, so a new key would protect nothing. A new key would break
   * connections: scripts of leaving machines have the key from when they were created, and joining
   * machines know the keys of all others before these are replaced.
   */
  readonly keepsHostKey: boolean;
  /** Taints that kubeadm sets on its nodes. */
  readonly taints: readonly string[];
}

/** Row of each role. */
export const roleTable: Readonly<Record<Role, RoleRow>> = {
  "control-plane": {
    title: "control-plane",
    node: true,
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
const roles = (): Role[] => Object.keys(roleTable) as Role[];

/** Returns whether most machines of a role must live. */
export const livesByMajority = (role: string): boolean =>
  roles().some((one) => one === role && roleTable[one].runsEtcd);

/** Returns the roles whose machines are nodes. */
export const nodeRoles = (): Role[] => roles().filter((role) => roleTable[role].node);

/** Returns the roles that a cluster's machines can have: those of nodes, and those in `apart`. */
export const rolesWith = (apart: readonly Role[]): Role[] =>
  roles().filter((role) => roleTable[role].node || apart.includes(role));

/** Row of control planes if etcd has its own machines: nothing of etcd is on them. */
const withoutEtcd: RoleRow = {
  ...roleTable["control-plane"],
  runsEtcd: false,
  kubeadmImages: ["kube-[a-z-]+", "coredns", "pause"],
  leaves: ["drain"],
  proofs: [],
};

/** Returns the role table of a cluster. */
export const rolesOf = ({ etcd }: { readonly etcd?: object | undefined }): typeof roleTable =>
  etcd ? { ...roleTable, "control-plane": withoutEtcd } : roleTable;
