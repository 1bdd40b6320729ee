import { rolesOf, type RoleRow } from "../../components/plan/roles.js";
import { etcdPorts } from "../../base/ports.js";
import type { CloudObject } from "../../cloud/inventory.js";
import { isIdentity, ownershipOf } from "../../cloud/ownership.js";
import type { Held } from "../../cloud/preflight.js";
import { machinesOf, type ClusterOutputs, type MachineOutput } from "../verify/outputs.js";

/** Returns whether etcd runs on separate machines. */
export const hasOwnEtcd = ({ etcd }: ClusterOutputs): boolean => (etcd ?? []).length > 0;

/**
 * Returns the machines whose role has a property, in their order. A role that this release does not
 * know has none.
 */
function machinesWith(outputs: ClusterOutputs, what: (row: RoleRow) => boolean): MachineOutput[] {
  const rows: Readonly<Partial<Record<string, RoleRow>>> = rolesOf({
    etcd: hasOwnEtcd(outputs) ? {} : undefined,
  });
  return machinesOf(outputs).filter(({ role }) => {
    const row = rows[role];
    return row !== undefined && what(row);
  });
}

/** Returns the control planes: the machines that have the CA keys. */
export const controlPlanesOf = (outputs: ClusterOutputs): MachineOutput[] =>
  machinesWith(outputs, ({ grant }) => grant === "certificates");

/** Returns the machines with members of etcd. */
export const etcdOf = (outputs: ClusterOutputs): MachineOutput[] =>
  machinesWith(outputs, ({ runsEtcd }) => runsEtcd);

/** Returns the URL at which other members reach a member of etcd. */
export const peerUrlOf = ({ address }: MachineOutput): string =>
  `https://${address}:${etcdPorts.peers}`;

/**
 * Returns the servers without those of other clusters, which may have the same names. A server
 * without an identity is kept, because it may be ours: if it were taken for deleted, what runs on
 * it would not be stopped. Pure.
 */
export const withoutOthers = (
  servers: readonly CloudObject[],
  { owned, identities }: Pick<Held, "owned" | "identities">,
): readonly CloudObject[] =>
  servers.filter((one) => {
    const identity = ownershipOf(one)?.mark.identity ?? "";
    return owned.has(one.id) || !isIdentity(identity) || identities.has(identity);
  });
