import * as pulumi from "@pulumi/pulumi";
import type { ClusterSpec } from "../spec/cluster-spec.js";
import type { Access } from "../machine/access.js";
import { hostScripts, hostValues } from "../machine/preparation.js";
import { MachineGroup, type MachineGroupArgs, type Member } from "../machine/machine-group.js";
import { ownState } from "../support/own-state.js";
import { scriptsBeside } from "../support/static-scripts.js";
import { EntryAddress, through, type EntryAddressArgs } from "./access.js";

const read = scriptsBeside(__dirname);
const scripts = [
  read("../support/scripts/common.sh"),
  ...hostScripts,
  read("scripts/bastion.sh"),
] as const;

/** A machine that is nothing but the way to the others: the only one that SSH from outside reaches. */
export class Bastion extends MachineGroup {
  static readonly type = "stackadm:access:Bastion";
  readonly member: Member;

  constructor(name: string, args: MachineGroupArgs, opts?: pulumi.ComponentResourceOptions) {
    super(Bastion.type, name, args, opts);
    const [member] = this.members;
    if (!member) throw new RangeError("a bastion is a machine");
    this.member = member;
    this.registerOutputs({});
  }

  /** The way through it, known when it lets everybody in: until then nobody dials, and its own failure is the only one. */
  at(host: pulumi.Output<string>, spec: Pick<ClusterSpec, "ssh" | "securityUpdates">): Access {
    const { machine } = this.member;
    const access = through(machine, host);
    const ready = this.script(this.member, "prepare", {
      access,
      scripts,
      values: hostValues(spec),
    });
    return through(
      machine,
      pulumi.all([host, ready.id]).apply(([known]) => known),
    );
  }
}

/** The floating IP on a bastion. It had the name of every way in once, and is then the same one. */
export class BastionAddress extends EntryAddress {
  constructor(name: string, args: EntryAddressArgs, opts?: pulumi.ComponentResourceOptions) {
    super(name, args, opts, former(name));
  }
}

const formerName = (name: string): string => name.replace(/bastion-access$/, "access");

/**
 * The name under which the state holds the bastion's floating IP, if it is not its own: Neutron lets no second one onto its port.
 * An address of that name on a control plane is another one: machines that leave go by it.
 */
const former = (name: string): pulumi.Output<string> =>
  pulumi.output(
    ownState().then((recorded) => {
      if (!recorded) return formerName(name);
      const outputOf = (resource: string, output: string): unknown =>
        recorded.find((one) => one.name === resource)?.outputs[output];
      const address = outputOf(`${formerName(name)}-floating-ip`, "fixedIp");
      const its = outputOf(name.replace(/access$/, "0-port"), "allFixedIps");
      // No resource has a name of nothing.
      return Array.isArray(its) && its.includes(address) ? formerName(name) : `${name}-nothing`;
    }),
  );
