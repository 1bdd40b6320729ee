/*
 * Ports of the components that kubeadm installs. Programs installed on machines get no variables,
 * so these programs contain etcd's ports as numbers.
 */

/** Port of the Kubernetes API, on each control plane and on its endpoint. */
export const apiPort = 6443;

export const etcdPorts = {
  clients: 2379,
  peers: 2380,
  /** Port of the health check, reachable only from the machine. */
  health: 2381,
} as const;
