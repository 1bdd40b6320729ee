import * as pulumi from "@pulumi/pulumi";
import type { ClusterSpec } from "../config/cluster-spec.js";
import type { MachineConnections } from "../machine/machine-connections.js";
import { hostScripts, getHostValues } from "../machine/preparation.js";
import {
  MachineGroup,
  type MachineGroupMember,
  type RolloutGroupArgs,
} from "../machine/machine-group.js";
import { readStateBeforeRun } from "../pulumi/recorded-resources.js";
import { createScriptReader } from "../remote-scripts/script-texts.js";
import { createScriptStep } from "../remote-scripts/script-steps.js";
import { EntryAddress, getConnectionsThroughEntry, type EntryAddressArgs } from "./ssh-route.js";

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

/**
 * Floating IP of the bastion. In an earlier release, this resource had the name `<cluster>-access`,
 * which is now the name of the floating IP of a control plane. A floating IP that the bastion has
 * under the earlier name is kept.
 */
export class BastionAddress extends EntryAddress {
  constructor(name: string, args: EntryAddressArgs, opts?: pulumi.ComponentResourceOptions) {
    super(name, args, opts, former(name));
  }
}

const formerName = (name: string): string => name.replace(/bastion-access$/, "access");

/**
 * Returns the former resource name if the state has a floating IP of this name on the bastion's
 * port. A new resource name would create a second floating IP, and Neutron refuses a second
 * floating IP on a port. Also returns the former name if the state cannot be read. A floating IP of
 * this name on a control plane's port does not belong to the bastion. That floating IP still serves
 * for SSH to machines that this run removes.
 */
const former = (name: string): pulumi.Output<string> =>
  pulumi.output(
    readStateBeforeRun().then((recorded) => {
      if (!recorded) return formerName(name);
      const outputOf = (resource: string, output: string): unknown =>
        recorded.find((one) => one.name === resource)?.outputs[output];
      const address = outputOf(`${formerName(name)}-floating-ip`, "fixedIp");
      const its = outputOf(name.replace(/access$/, "0-port"), "allFixedIps");
      // No resource has the name `<name>-nothing`, so the alias has no effect.
      return Array.isArray(its) && its.includes(address) ? formerName(name) : `${name}-nothing`;
    }),
  );
