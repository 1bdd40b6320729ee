import { rolesOf, type RoleRow } from "../../components/config/roles.js";
import { etcdPorts } from "../../base/ports.js";
import type { CloudObject } from "../../openstack/inventory/inventory.js";
import { isIdentity, ownershipOf } from "../../openstack/inventory/ownership.js";
import type { OwnedByStack } from "../../openstack/checks/preflight-checks.js";
import { machinesOf, type ClusterOutputs, type MachineOutput } from "../verify/cluster-outputs.js";

/** Returns whether etcd runs on separate machines. */
export const hasEtcdMachines = ({ etcd }: ClusterOutputs): boolean => (etcd ?? []).length > 0;

/**
 * Returns the machines whose role fulfils the condition `what`, in the order of the outputs. Leaves
 * out a machine if this release does not know its role.
 */
function machinesWith(outputs: ClusterOutputs, what: (row: RoleRow) => boolean): MachineOutput[] {
  const rows: Readonly<Partial<Record<string, RoleRow>>> = rolesOf({
    etcd: hasEtcdMachines(outputs) ? {} : undefined,
  });
  return machinesOf(outputs).filter(({ role }) => {
    const row = rows[role];
    return row !== undefined && what(row);
  });
}

/** Returns the control planes, which have the keys of the cluster's CA. */
export const controlPlanesOf = (outputs: ClusterOutputs): MachineOutput[] =>
  machinesWith(outputs, ({ grant }) => grant === "certificates");

/** Returns the machines that run a member of etcd. */
export const etcdMachinesOf = (outputs: ClusterOutputs): MachineOutput[] =>
  machinesWith(outputs, ({ runsEtcd }) => runsEtcd);

/** Returns the peer URL of an etcd member. */
export const peerUrlOf = ({ address }: MachineOutput): string =>
  `https://${address}:${etcdPorts.peers}`;

/**
 * Returns the servers without the servers of other clusters, which may have the same names. Keeps a
 * server without an identity, because it may belong to this cluster. If the restore regarded such a
 * server as deleted, etcd would continue to run on it.
 */
export const withoutForeignServers = (
  servers: readonly CloudObject[],
  { owned, identities }: Pick<OwnedByStack, "owned" | "identities">,
): readonly CloudObject[] =>
  servers.filter((one) => {
    const identity = ownershipOf(one)?.mark.identity ?? "";
    return owned.has(one.id) || !isIdentity(identity) || identities.has(identity);
  });
