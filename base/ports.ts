/*
 * Ports of the components that kubeadm installs. If you change one of etcd's ports, also change the
 * programs that are installed on machines. Those programs contain etcd's ports as numbers, because
 * the programs get no variables.
 */

/** Port of the Kubernetes API on each control plane and on the API's endpoint. */
export const apiPort = 6443;

export const etcdPorts = {
  clients: 2379,
  peers: 2380,
  /** Port of etcd's health check. Only the machine itself can reach this port. */
  health: 2381,
} as const;
