import * as pulumi from "@pulumi/pulumi";
import type { MachineConnections } from "../machine/machine-connections.js";
import type { Machine } from "../machine/machine.js";
import { FloatingIpComponent, type ExternalConnection } from "../network/floating-ip-component.js";

/** Access at each machine's own address: the program runs in the machines' network. */
const direct: MachineConnections = {
  connectionTo: (machine) => machine.ssh(machine.address),
};

const inAdminNetwork = ({ machine, adminAddress }: Machine): pulumi.Output<string> => {
  if (!adminAddress) throw new RangeError(`${machine} has no interface in an admin network`);
  return adminAddress;
};

/** Access at each machine's address in the admin network. */
const admin: MachineConnections = {
  connectionTo: (machine) => machine.ssh(inAdminNetwork(machine)),
};

/** Kinds of access without a hop, by their name in a specification. */
export const connectionsWithoutProxy: Readonly<Partial<Record<string, MachineConnections>>> = {
  direct,
  admin,
};

/** Returns the access that reaches `entry` at `host` and all other machines through it. */
export const connectionsThrough = (
  entry: Machine,
  host: pulumi.Output<string>,
): MachineConnections => {
  const hop = entry.ssh(host);
  return {
    connectionTo: (machine) =>
      machine === entry ? hop : { ...machine.ssh(machine.address), proxy: hop },
  };
};

export interface EntryAddressArgs extends ExternalConnection {
  /** Port of the entry machine. */
  readonly portId: pulumi.Input<string>;
  /** Floating IP that the project has already. @default a new one is created */
  readonly given?: string | undefined;
  /**
   * Resources to create first: a port has only one floating IP, and this port may have had the
   * API's.
   */
  readonly after: readonly pulumi.Resource[];
}

/** Floating IP of the entry machine, if the API's endpoint has none there. */
export class EntryAddress extends FloatingIpComponent {
  static readonly type = "stackadm:access:EntryAddress";
  readonly address: pulumi.Output<string>;

  /** @param former name in the state of an earlier release */
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
        // Needed even if an earlier run created nothing but the component.
        aliases: renamed ? [itself] : [],
      },
    );
    this.address = entry.address;
    this.registerOutputs({ address: this.address });
  }
}
