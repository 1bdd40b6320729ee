import * as pulumi from "@pulumi/pulumi";
import type { Access } from "../machine/access.js";
import type { Machine } from "../machine/machine.js";
import { Addressed, type Outside } from "../network/floating-address.js";
import { scriptsBeside } from "../support/static-scripts.js";

const read = scriptsBeside(__dirname);

/** The script that shows that a machine lets the program in. */
export const loginScripts = [
  read("../support/scripts/common.sh"),
  read("scripts/login.sh"),
] as const;

/** Each machine is reached at its own address: the program runs where the machines are. */
const direct: Access = {
  route: (machine) => machine.ssh(machine.address),
};

const inAdminNetwork = ({ machine, adminAddress }: Machine): pulumi.Output<string> => {
  if (!adminAddress) throw new RangeError(`${machine} has no interface in an admin network`);
  return adminAddress;
};

/** Each machine is reached at its address in the admin network. */
const admin: Access = {
  route: (machine) => machine.ssh(inAdminNetwork(machine)),
};

/** The ways on which no machine leads to another, by their name in a specification. */
export const withoutHops: Readonly<Partial<Record<string, Access>>> = { direct, admin };

/** One machine is reached at `host`, all others through it. */
export const through = (entry: Machine, host: pulumi.Output<string>): Access => {
  const hop = entry.ssh(host);
  return {
    route: (machine) => (machine === entry ? hop : { ...machine.ssh(machine.address), proxy: hop }),
  };
};

export interface EntryAddressArgs extends Outside {
  /** Port of the machine that is the way in. */
  readonly portId: pulumi.Input<string>;
  /** The floating IP, if the project has it already. @default one is made */
  readonly given?: string | undefined;
  /** What is made first: a port has one floating IP, and this one may have had the API's. */
  readonly after: readonly pulumi.Resource[];
}

/** A floating IP on the machine that is the way in, where the API's endpoint is none. */
export class EntryAddress extends Addressed {
  static readonly type = "stackadm:access:EntryAddress";
  readonly address: pulumi.Output<string>;

  /** @param former name under which the state may hold it */
  constructor(
    name: string,
    args: EntryAddressArgs,
    opts: pulumi.ComponentResourceOptions = {},
    former: pulumi.Input<string> = name,
  ) {
    const before = pulumi.createUrn(former, EntryAddress.type, opts.parent);
    const renamed = former !== name;
    super(EntryAddress.type, name, pulumi.mergeOptions(opts, { aliases: renamed ? [before] : [] }));
    const itself = { name: pulumi.interpolate`${former}-floating-ip`, parent: before };
    const { portId, given, after } = args;
    const entry = this.addressOutside(
      args,
      { portId, what: "SSH", given },
      {
        dependsOn: [...after],
        // Also where an earlier run came no further than the component.
        aliases: renamed ? [itself] : [],
      },
    );
    this.address = entry.address;
    this.registerOutputs({ address: this.address });
  }
}
