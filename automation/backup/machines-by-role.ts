import { getRoleTable, type RoleRow } from "../../components/config/roles.js";
import { etcdPorts } from "../../base/ports.js";
import type { CloudObject } from "../../openstack/inventory/inventory.js";
import { getOwnership } from "../../openstack/inventory/ownership.js";
import type { StackOwnedObjects } from "../../openstack/checks/preflight-checks.js";
import { getMachines, type ClusterOutputs, type MachineOutput } from "../verify/cluster-outputs.js";

/** Returns whether etcd runs on separate machines. */
export const hasEtcdMachines = ({ etcd }: ClusterOutputs): boolean => (etcd ?? []).length > 0;

/**
 * Returns the machines whose role fulfils the condition `what`, in the order of the outputs. Leaves
 * out a machine if this release does not know its role.
 */
function machinesWith(outputs: ClusterOutputs, what: (row: RoleRow) => boolean): MachineOutput[] {
  const rows: Readonly<Partial<Record<string, RoleRow>>> = getRoleTable({
    etcd: hasEtcdMachines(outputs) ? {} : undefined,
  });
  return getMachines(outputs).filter(({ role }) => {
    const row = rows[role];
    return row !== undefined && what(row);
  });
}

/** Returns the control planes, which have the keys of the cluster's CA. */
export const getControlPlanes = (outputs: ClusterOutputs): MachineOutput[] =>
  machinesWith(outputs, ({ grant }) => grant === "certificates");

/** Returns the machines that run a member of etcd. */
export const getEtcdMemberMachines = (outputs: ClusterOutputs): MachineOutput[] =>
  machinesWith(outputs, ({ runsEtcd }) => runsEtcd);

/** Returns the peer URL of an etcd member. */
export const getEtcdPeerUrl = ({ address }: MachineOutput): string =>
  `https://${address}:${etcdPorts.peers}`;

/**
 * Removes the servers of other clusters from the list, because clusters may have servers with equal
 * names. Keeps a server without an identity, because it may belong to this cluster. If the restore
 * regarded such a server as deleted, etcd would continue to run on it.
 */
export const omitForeignServers = (
  servers: readonly CloudObject[],
  { owned, identities }: Pick<StackOwnedObjects, "owned" | "identities">,
): readonly CloudObject[] =>
  servers.filter((one) => {
    const identity = getOwnership(one)?.mark.identity;
    return identity === undefined || owned.has(one.id) || identities.has(identity);
  });
