import * as pulumi from "@pulumi/pulumi";
import type { ClusterSpec } from "../config/cluster-spec.js";
import type { MachineConnections } from "../machine/machine-connections.js";
import { hostScripts, hostValues } from "../machine/preparation.js";
import { MachineGroup, type Member, type RolloutGroupArgs } from "../machine/machine-group.js";
import { stateBeforeRun } from "../pulumi/recorded-resources.js";
import { scriptsBeside } from "../remote-scripts/script-texts.js";
import { stepOf } from "../remote-scripts/script-steps.js";
import { EntryAddress, connectionsThrough, type EntryAddressArgs } from "./ssh-route.js";

const read = scriptsBeside(__dirname);
/** Step that prepares a bastion. */
export const bastionStep = stepOf("bastion", {
  scripts: [
    read("../remote-scripts/scripts/common.sh"),
    ...hostScripts,
    read("bastion-logins-and-updates.sh"),
  ],
});

/**
 * Bastion: a machine that only leads to the others, and the only one that accepts SSH from outside.
 */
export class Bastion extends MachineGroup {
  static readonly type = "stackadm:access:Bastion";
  readonly member: Member;

  constructor(name: string, args: RolloutGroupArgs, opts?: pulumi.ComponentResourceOptions) {
    super(Bastion.type, name, { ...args, steps: [bastionStep] }, opts);
    const [member] = this.members;
    if (!member) throw new RangeError("a bastion is a machine");
    this.member = member;
    this.registerOutputs({});
  }

  /**
   * Returns the access through the bastion, known when the bastion accepts connections. Before, no
   * other machine is dialled, so that a failure of the bastion is reported once.
   */
  at(
    host: pulumi.Output<string>,
    spec: Pick<ClusterSpec, "ssh" | "securityUpdates">,
  ): MachineConnections {
    const { machine } = this.member;
    const access = connectionsThrough(machine, host);
    const ready = this.script(this.member, "prepare", {
      access,
      step: bastionStep,
      values: hostValues(spec),
    });
    return connectionsThrough(
      machine,
      pulumi.all([host, ready.id]).apply(([known]) => known),
    );
  }
}

/**
 * Floating IP of a bastion. In an earlier release it had the name of any entry address; it is kept.
 */
export class BastionAddress extends EntryAddress {
  constructor(name: string, args: EntryAddressArgs, opts?: pulumi.ComponentResourceOptions) {
    super(name, args, opts, former(name));
  }
}

const formerName = (name: string): string => name.replace(/bastion-access$/, "access");

/**
 * Returns the former name of the bastion's floating IP if the state has one on the bastion's port,
 * since Neutron refuses a second one there. An address of that name on a control plane is another
 * one, through which leaving machines are reached.
 */
const former = (name: string): pulumi.Output<string> =>
  pulumi.output(
    stateBeforeRun().then((recorded) => {
      if (!recorded) return formerName(name);
      const outputOf = (resource: string, output: string): unknown =>
        recorded.find((one) => one.name === resource)?.outputs[output];
      const address = outputOf(`${formerName(name)}-floating-ip`, "fixedIp");
      const its = outputOf(name.replace(/access$/, "0-port"), "allFixedIps");
      // Name that no resource has.
      return Array.isArray(its) && its.includes(address) ? formerName(name) : `${name}-nothing`;
    }),
  );
