import type { ClusterSpec } from "../config/cluster-spec.js";
import {
  MachineGroup,
  type SurvivorScriptArgs,
  type MachineGroupMember,
} from "../machine/machine-group.js";
import { getRoleTable } from "../config/roles.js";
import type { RemoteScript } from "../remote-scripts/remote-script.js";
import { leaveStep } from "./node-scripts.js";

/** Arguments of `leave`. The survivor, on which the script runs, is a control plane. */
export interface LeaveArgs extends Pick<SurvivorScriptArgs, "survivor" | "access" | "after"> {
  readonly spec: Pick<ClusterSpec, "etcd" | "cloudController">;
}

/** Group of machines that are nodes of the cluster. */
export abstract class NodeGroup extends MachineGroup {
  /** Scripts that run before the server of a machine is deleted, by the name of the machine. */
  readonly #leaveScripts = new Map<string, RemoteScript>();

  /**
   * Returns the script that runs before the server of a machine is deleted. Returns undefined if
   * the machine needs no such script.
   */
  findLeaveScript({ plan }: MachineGroupMember): RemoteScript | undefined {
    return this.#leaveScripts.get(plan.name);
  }

  /**
   * Creates the script that runs before a machine's server is deleted. The script drains the node
   * and removes the etcd member. The state contains the script before the machine joins, because
   * even an interrupted join may leave an etcd member to remove.
   */
  protected leave(
    member: MachineGroupMember,
    { spec, ...args }: LeaveArgs,
  ): RemoteScript | undefined {
    const { plan, machine } = member;
    const { leaves } = getRoleTable(spec)[plan.role];
    const script = this.createLeaveScript(member, {
      ...args,
      leaves,
      step: leaveStep,
      values: {
        NODE_NAME: plan.name,
        LEAVING_SERVER: machine.serverId,
        LEAVING_ADDRESS: machine.address,
        LEAVES: leaves.join(" "),
        DELETES_NODE: spec.cloudController.enabled === false ? "yes" : "",
      },
    });
    if (script) this.#leaveScripts.set(plan.name, script);
    return script;
  }
}
