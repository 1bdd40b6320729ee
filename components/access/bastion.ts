import { readFileSync } from "node:fs";
import { join } from "node:path";
import * as pulumi from "@pulumi/pulumi";
import { MachineGroup, type MachineGroupArgs, type Member } from "../machine/machine-group.js";
import { through, type Access } from "./access.js";

const scripts = [
  readFileSync(join(__dirname, "../support/scripts/common.sh"), "utf8"),
  readFileSync(join(__dirname, "scripts/bastion.sh"), "utf8"),
] as const;

/** A machine that is nothing but the way to the others: the only one that SSH from outside reaches. */
export class Bastion extends MachineGroup {
  static readonly type = "stackadm:access:Bastion";
  readonly member: Member;

  constructor(name: string, args: MachineGroupArgs, opts?: pulumi.ComponentResourceOptions) {
    // It sends for nobody else: pods' packets do not come this way.
    const machines = { ...args.machines, routedRanges: [] };
    super(Bastion.type, name, { ...args, machines }, opts);
    const [member] = this.members;
    if (!member) throw new RangeError("a bastion is a machine");
    this.member = member;
    this.registerOutputs({});
  }

  /** The way through it, known when it lets everybody in: until then nobody dials, and its own failure is the only one. */
  at(host: pulumi.Output<string>): Access {
    const { machine } = this.member;
    const access = through(machine, host);
    const ready = this.script(this.member, "prepare", { access, scripts, values: {} });
    return through(
      machine,
      pulumi.all([host, ready.id]).apply(([known]) => known),
    );
  }
}
