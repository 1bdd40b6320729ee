import type * as pulumi from "@pulumi/pulumi";
import type { Access } from "../access/access.js";
import { MachineGroup, type Member } from "../machine/machine-group.js";
import type { Leave } from "../plan/roles.js";
import { RemoteScript } from "../support/remote-script.js";
import { leaveScripts } from "./node-scripts.js";

export interface LeaveArgs {
  /** The control plane that does it; it outlives the leaving machine. The machine itself, if there is no other: it never leaves. */
  readonly survivor: Member;
  readonly access: Access;
  /** What the survivor does for it. */
  readonly leaves: readonly Leave[];
  /** What has to be in the state first. */
  readonly after?: pulumi.Resource;
}

/** Machines that are nodes of a cluster. */
export abstract class NodeGroup extends MachineGroup {
  /**
   * Before a machine's server goes, replaced or for good: its pods move to the others, and etcd forgets it. It is in the state
   * before the machine joins: etcd counts a member whose join was broken off, too.
   */
  protected leave(
    { plan, machine }: Member,
    { survivor, access, leaves, after }: LeaveArgs,
  ): RemoteScript {
    return this.make(
      RemoteScript,
      `${String(plan.position)}-leave`,
      {
        connection: access.route(survivor.machine),
        scripts: leaveScripts,
        values: {
          NODE_NAME: plan.name,
          LEAVING_SERVER: machine.serverId,
          LEAVING_ADDRESS: machine.address,
          LEAVES: leaves.join(" "),
        },
        when: "delete",
      },
      {
        ...(after && { dependsOn: after }),
        // Replaced with the server, which means here: run before the server is deleted, since both are deleted first.
        replaceWith: survivor.machine === machine ? [] : [machine.server],
        deleteBeforeReplace: true,
        // When the whole cluster goes, nobody moves.
        deletedWith: survivor.machine.server,
      },
    );
  }
}
