/*
 * The ports of a cluster's own parts, as kubeadm has them. Scripts that lie on machines, which nobody tells, name etcd's themselves.
 */

/** Of the Kubernetes API, on each control plane and wherever it is reached. */
export const apiPort = 6443;

export const etcdPorts = {
  clients: 2379,
  peers: 2380,
  /** How it is, to those on its machine. */
  health: 2381,
} as const;
