import { rolesOf, type RoleRow } from "../../components/plan/roles.js";
import { etcdPorts } from "../../base/ports.js";
import type { CloudObject } from "../../cloud/inventory.js";
import { isIdentity, ownershipOf } from "../../cloud/ownership.js";
import type { Held } from "../../cloud/preflight.js";
import { machinesOf, type ClusterOutputs, type MachineOutput } from "../verify/outputs.js";

/** Whether etcd has machines of its own. */
export const hasOwnEtcd = ({ etcd }: ClusterOutputs): boolean => (etcd ?? []).length > 0;

/** The machines of roles with that, in their order. A role that this release does not know has nothing. */
function having(outputs: ClusterOutputs, what: (row: RoleRow) => boolean): MachineOutput[] {
  const rows: Readonly<Partial<Record<string, RoleRow>>> = rolesOf({
    etcd: hasOwnEtcd(outputs) ? {} : undefined,
  });
  return machinesOf(outputs).filter(({ role }) => {
    const row = rows[role];
    return row !== undefined && what(row);
  });
}

/** The control planes: those that were given the authorities' keys. */
export const controlPlanesOf = (outputs: ClusterOutputs): MachineOutput[] =>
  having(outputs, ({ grant }) => grant === "certificates");

/** The machines with etcd's members. */
export const etcdOf = (outputs: ClusterOutputs): MachineOutput[] =>
  having(outputs, ({ runsEtcd }) => runsEtcd);

/** Where a member of etcd talks with the others. */
export const peerUrlOf = ({ address }: MachineOutput): string =>
  `https://${address}:${etcdPorts.peers}`;

/**
 * Without those of other clusters, which may have the same names. What says nothing of whose it is may be ours: of a machine that is taken
 * for gone nobody would stop what runs on it. Pure.
 */
export const withoutOthers = (
  servers: readonly CloudObject[],
  { owned, identities }: Pick<Held, "owned" | "identities">,
): readonly CloudObject[] =>
  servers.filter((one) => {
    const identity = ownershipOf(one)?.mark.identity ?? "";
    return owned.has(one.id) || !isIdentity(identity) || identities.has(identity);
  });
