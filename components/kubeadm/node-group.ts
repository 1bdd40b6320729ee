import type { ClusterSpec } from "../spec/cluster-spec.js";
import { MachineGroup, type LetGoArgs, type Member } from "../machine/machine-group.js";
import { rolesOf } from "../plan/roles.js";
import type { RemoteScript } from "../support/remote-script.js";
import { leaveScripts } from "./node-scripts.js";

/** The survivor is a control plane. */
export interface LeaveArgs extends Pick<LetGoArgs, "survivor" | "access" | "after"> {
  readonly spec: Pick<ClusterSpec, "etcd">;
}

/** Machines that are nodes of a cluster. */
export abstract class NodeGroup extends MachineGroup {
  /**
   * Before a machine's server goes: its pods move to the others, and etcd forgets it. It is in the state before the machine
   * joins: etcd counts a member whose join was broken off, too.
   */
  protected leave(member: Member, { spec, ...args }: LeaveArgs): RemoteScript | undefined {
    const { plan, machine } = member;
    const { leaves } = rolesOf(spec)[plan.role];
    return this.letGo(member, {
      ...{ ...args, leaves },
      scripts: leaveScripts,
      values: {
        NODE_NAME: plan.name,
        LEAVING_SERVER: machine.serverId,
        LEAVING_ADDRESS: machine.address,
        LEAVES: leaves.join(" "),
      },
    });
  }
}
