/*
 * Ports of a cluster's own components, as kubeadm sets them. Scripts that are installed on machines
 * repeat etcd's ports, because they get no variables.
 */

/** Port of the Kubernetes API, on each control plane and on its endpoint. */
export const apiPort = 6443;

export const etcdPorts = {
  clients: 2379,
  peers: 2380,
  /** Port of the health check, open on the machine itself only. */
  health: 2381,
} as const;
