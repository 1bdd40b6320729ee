import * as pulumi from "@pulumi/pulumi";
import type { ClusterSpec } from "../config/cluster-spec.js";
import type { MachineConnections } from "../machine/machine-connections.js";
import { hostScripts, getHostValues } from "../machine/preparation.js";
import {
  MachineGroup,
  type MachineGroupMember,
  type RolloutGroupArgs,
} from "../machine/machine-group.js";
import { createScriptReader } from "../remote-scripts/script-texts.js";
import { createScriptStep } from "../remote-scripts/script-steps.js";
import { getConnectionsThroughEntry } from "./ssh-route.js";

const read = createScriptReader(__dirname);
/** Step that prepares a bastion. */
export const bastionStep = createScriptStep("bastion", {
  scripts: [
    read("../remote-scripts/scripts/common.sh"),
    ...hostScripts,
    read("bastion-logins-and-updates.sh"),
  ],
});

/**
 * Machine that only forwards SSH to the other machines. No other machine accepts SSH from outside.
 */
export class Bastion extends MachineGroup {
  static readonly type = "stackadm:access:Bastion";
  readonly member: MachineGroupMember;

  constructor(name: string, args: RolloutGroupArgs, opts?: pulumi.ComponentResourceOptions) {
    super(Bastion.type, name, { ...args, steps: [bastionStep] }, opts);
    const [member] = this.members;
    if (!member) throw new RangeError("a bastion is a machine");
    this.member = member;
    this.registerOutputs({});
  }

  /**
   * Returns SSH connections through the bastion, at the address `host`. The connections become
   * known only when the bastion's script has run. So a failure of the bastion is reported once, and
   * not again for each machine behind it.
   */
  getConnections(
    host: pulumi.Output<string>,
    spec: Pick<ClusterSpec, "ssh" | "securityUpdates">,
  ): MachineConnections {
    const { machine } = this.member;
    const access = getConnectionsThroughEntry(machine, host);
    const ready = this.script(this.member, "prepare", {
      access,
      step: bastionStep,
      values: getHostValues(spec),
    });
    return getConnectionsThroughEntry(
      machine,
      pulumi.all([host, ready.id]).apply(([known]) => known),
    );
  }
}
