import * as pulumi from "@pulumi/pulumi";
import type { MachineConnections } from "../machine/machine-connections.js";
import type { Machine } from "../machine/machine.js";
import { FloatingIpComponent, type ExternalConnection } from "../network/floating-ip-component.js";

/** SSH connections to each machine's address, for a program that runs in the machines' network. */
const direct: MachineConnections = {
  connectionTo: (machine) => machine.ssh(machine.address),
};

const inAdminNetwork = ({ machine, adminAddress }: Machine): pulumi.Output<string> => {
  if (!adminAddress) throw new RangeError(`${machine} has no interface in an admin network`);
  return adminAddress;
};

/** SSH connections to each machine's address in the admin network. */
const admin: MachineConnections = {
  connectionTo: (machine) => machine.ssh(inAdminNetwork(machine)),
};

/**
 * SSH connections without a proxy machine, by the value of `ssh.access` in the specification.
 */
export const connectionsWithoutProxy: Readonly<Partial<Record<string, MachineConnections>>> = {
  direct,
  admin,
};

/**
 * Returns SSH connections through one machine: to `entry` at the address `host`, and to all other
 * machines with `entry` as the proxy.
 */
export const getConnectionsThroughEntry = (
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
  /** Existing floating IP of the project. @default the program creates a floating IP */
  readonly given?: string | undefined;
  /**
   * Resources that the engine creates or changes before the floating IP. A port can have only one
   * floating IP, and this port may still have the floating IP of the API.
   */
  readonly after: readonly pulumi.Resource[];
}

/**
 * Floating IP for SSH to the entry machine. The entry machine is the machine through which SSH
 * reaches all other machines. Created only if the API's floating IP is not on the entry machine.
 */
export class EntryAddress extends FloatingIpComponent {
  static readonly type = "stackadm:access:EntryAddress";
  readonly address: pulumi.Output<string>;

  constructor(name: string, args: EntryAddressArgs, opts?: pulumi.ComponentResourceOptions) {
    super(EntryAddress.type, name, opts);
    const { portId, given, after } = args;
    const entry = this.addressOutside(
      args,
      { portId, what: "SSH", given },
      { dependsOn: [...after] },
    );
    this.address = entry.address;
    this.registerOutputs({ address: this.address });
  }
}
