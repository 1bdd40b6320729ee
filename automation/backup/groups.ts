import type { ClusterOutputs, MachineOutput } from "../verify/outputs.js";

/** The control planes, in their order. */
export const controlPlanesOf = ({ nodes }: ClusterOutputs): MachineOutput[] =>
  nodes.filter(({ role }) => role === "control-plane");

/** Whether etcd has machines of its own. */
export const hasOwnEtcd = ({ etcd }: ClusterOutputs): boolean => (etcd ?? []).length > 0;

/** The machines with etcd's members, in their order. */
export const etcdOf = (outputs: ClusterOutputs): MachineOutput[] =>
  hasOwnEtcd(outputs) ? [...(outputs.etcd ?? [])] : controlPlanesOf(outputs);
