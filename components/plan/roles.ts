import type { ImageName } from "../../base/images.js";

/** What a machine of the cluster can be. */
export type Role = "control-plane" | "worker" | "bastion" | "etcd";

/** Label of the nodes of a pool of workers: the pool. */
export const poolLabel = "stackadm.io/pool";

/** What a leaving machine's survivors do for it, before its server is deleted. */
export type Leave = "drain" | "remove-etcd-member" | "keep-majority";

/** What a machine is asked when the cluster is proved, besides whether its node is Ready (automation/verify/machines.ts). */
export type Proof = "etcd-pod" | "etcd-health" | "login";

/** Everything that depends on what a machine is. There is no other place that asks for a role. */
export interface RoleRow {
  /** The role in the security group's description. */
  readonly title: string;
  /** Whether its machines are nodes of the cluster: in the security group of all nodes, open to each other, and pods send from them. */
  readonly node: boolean;
  /** Whether etcd has its data on its machines: then most of them have to live, and they join and are replaced in their order. */
  readonly runsEtcd: boolean;
  /** Images of kubeadm's own list that its pods need, by their names; `all` of them. */
  readonly kubeadmImages: "all" | readonly string[];
  /** Images of add-ons that its pods need, the soonest first, beside those of pod network and storage that run everywhere. */
  readonly addonImages: readonly ImageName[];
  /** By which its nodes are known. A pool's they have of us, kubeadm gives the others. */
  readonly label?: string;
  /** What a machine that joins is given (kubeadm/scripts/mint.sh, etcd/scripts/mint.sh); with certificates it serves the API. */
  readonly grant: "token" | "certificates" | "membership" | "nothing";
  /** Nothing: its servers go without a word. */
  readonly leaves: readonly Leave[];
  readonly proofs: readonly Proof[];
  /**
   * Whether its machines keep their host key when they are replaced. Whoever had root on a control plane or in etcd had the
   * cluster, so another key would protect nothing; but those that leave go by the key that was there when they were made, and
   * those that join know all others before these have had their turn.
   */
  readonly keepsHostKey: boolean;
  /** Taints that kubeadm gives to its node. */
  readonly taints: readonly string[];
}

/** One row per role. */
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

/** All roles, in the table's order. */
const roles = (): Role[] => Object.keys(roleTable) as Role[];

/** Whether most of the machines of a role, by its name, have to live. */
export const livesByMajority = (role: string): boolean =>
  roles().some((one) => one === role && roleTable[one].runsEtcd);

/** The roles whose machines join the cluster. */
export const nodeRoles = (): Role[] => roles().filter((role) => roleTable[role].node);

/** The roles that a cluster's machines can have: those of nodes, and of machines that it has besides. */
export const rolesWith = (apart: readonly Role[]): Role[] =>
  roles().filter((role) => roleTable[role].node || apart.includes(role));

/** The row of a control plane where etcd has machines of its own: nothing of etcd is its affair. */
const withoutEtcd: RoleRow = {
  ...roleTable["control-plane"],
  runsEtcd: false,
  kubeadmImages: ["kube-[a-z-]+", "coredns", "pause"],
  leaves: ["drain"],
  proofs: [],
};

/** The rows of a cluster. */
export const rolesOf = ({ etcd }: { readonly etcd?: object | undefined }): typeof roleTable =>
  etcd ? { ...roleTable, "control-plane": withoutEtcd } : roleTable;
