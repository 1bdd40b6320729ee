import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import { metadataOf, tagsOf, type ClusterMarkInput } from "../identity/cluster-mark.js";
import { deriveKey, hostKeyPurpose } from "../identity/host-keys.js";
import { Component } from "../support/component.js";
import type { FailedMachines, ReachedServer } from "../support/failed-machines.js";
import type { Connection, SshHop } from "../support/remote-script.js";
import { userData } from "./user-data.js";

/** The metadata of a server that says in which generation it was made. */
export const generationMark = "stackadm-generation";

/** What all machines of a cluster have in common. */
export interface MachineSettings {
  /** Marks what belongs to the cluster. */
  readonly mark: ClusterMarkInput;
  readonly imageId: pulumi.Input<string>;
  readonly networkId: pulumi.Input<string>;
  readonly subnetId: pulumi.Input<string>;
  /** Ranges that each machine may send from and receive for, besides its own address: pods and services. */
  readonly routedRanges: readonly string[];
  /** Whether Neutron filters at the ports. */
  readonly portSecurity: boolean;
  readonly login: { readonly user: string; readonly publicKey: string };
  /** Base64; secret. The machines' host keys are derived from it. */
  readonly seed: pulumi.Input<string>;
  readonly failed: FailedMachines;
}

export interface MachineArgs extends MachineSettings {
  /** Name of the server and of the node. Change: replaces the machine. */
  readonly machine: string;
  readonly flavorId: pulumi.Input<string>;
  readonly securityGroupIds: readonly pulumi.Input<string>[];
  /** More of the kind of `routedRanges`, for this machine. */
  readonly allowedAddresses: readonly pulumi.Input<string>[];
  readonly serverGroupId: pulumi.Input<string>;
  /** Availability zone. @default Nova chooses */
  readonly zone?: string;
  /**
   * Another one replaces the machine; only then do image, flavor, zone, user data and login key change. Known when it is
   * the machine's turn: until then its server stays as it is.
   */
  readonly generation: pulumi.Input<number>;
}

/** A port and a server on it. */
export class Machine extends Component {
  static readonly type = "stackadm:machine:Machine";
  readonly machine: string;
  readonly zone: pulumi.Output<string>;
  readonly portId: pulumi.Output<string>;
  /** Address in the private network; known before the server is. */
  readonly address: pulumi.Output<string>;
  readonly serverId: pulumi.Output<string>;
  /** The public half of the host key: `ssh-ed25519 AAAA...`. */
  readonly hostKey: pulumi.Output<string>;
  readonly server: openstack.compute.Instance;
  readonly #user: string;

  constructor(name: string, args: MachineArgs, opts?: pulumi.ComponentResourceOptions) {
    super(Machine.type, name, opts);
    const key = pulumi
      .all([args.seed, args.generation])
      .apply(([seed, generation]) => deriveKey(seed, hostKeyPurpose(args.machine, generation)));
    const port = this.port(args);
    this.server = this.createServer(args, port, key);
    this.machine = args.machine;
    this.#user = args.login.user;
    this.zone = this.server.availabilityZone;
    this.portId = port.id;
    this.address = port.allFixedIps.apply((addresses) => addresses[0] ?? "");
    this.serverId = this.server.id;
    this.hostKey = pulumi.unsecret(key.publicKey);
    this.registerOutputs({ address: this.address, serverId: this.serverId, hostKey: this.hostKey });
  }

  /** How to reach the machine at `host`. Known only when the server runs, so that nobody dials what is not there. */
  ssh(host: pulumi.Input<string>): SshHop {
    const known = pulumi.all([host, this.serverId]).apply(([address]) => address);
    return {
      ...{ host: known, user: this.#user, hostKey: this.hostKey },
      ...{ machine: this.machine, server: this.serverId },
    };
  }

  /** The machine as a failure of a script on it has to name it. */
  reachedBy(connection: Connection): ReachedServer {
    return { machine: this.machine, serverId: this.serverId, connection };
  }

  private port(args: MachineArgs): openstack.networking.Port {
    return this.make(openstack.networking.Port, "port", {
      name: args.machine,
      networkId: args.networkId,
      adminStateUp: true,
      fixedIps: [{ subnetId: args.subnetId }],
      ...(args.portSecurity
        ? {
            securityGroupIds: [...args.securityGroupIds],
            allowedAddressPairs: [...args.routedRanges, ...args.allowedAddresses].map(
              (ipAddress) => ({ ipAddress }),
            ),
          }
        : { portSecurityEnabled: false, noSecurityGroups: true }),
      tags: tagsOf(args.mark),
    });
  }

  private createServer(
    args: MachineArgs,
    port: openstack.networking.Port,
    hostKey: pulumi.Output<ReturnType<typeof deriveKey>>,
  ): openstack.compute.Instance {
    const { machine, login, failed } = args;
    const replaces = failed.serverOf(machine);
    return this.make(
      openstack.compute.Instance,
      "server",
      {
        name: machine,
        imageId: args.imageId,
        flavorId: args.flavorId,
        networks: [{ port: port.id }],
        configDrive: true,
        ...(args.zone !== undefined && { availabilityZone: args.zone }),
        schedulerHints: [{ group: args.serverGroupId }],
        metadata: pulumi
          .all([metadataOf(args.mark), args.generation])
          .apply(([marks, generation]) => ({ ...marks, [generationMark]: String(generation) })),
        userData: hostKey.apply((key) =>
          userData({ machine, login, hostKey: key, ...(replaces !== undefined && { replaces }) }),
        ),
      },
      {
        // A server has its node's name, so the old one has to be gone. One in ERROR is not mended, it is replaced. Nothing
        // is updated in place: an update that failed would look like a server in ERROR.
        deleteBeforeReplace: true,
        replaceOnChanges: ["#initerror"],
        replacementTrigger: args.generation,
        ignoreChanges: [
          ...["imageId", "imageName", "keyPair", "flavorId", "availabilityZone"],
          ...["metadata", "powerState"],
          ...(replaces === undefined ? ["userData"] : []),
        ],
        customTimeouts: { create: "10m" },
        hooks: { afterCreate: [failed.forget(machine)], onError: [failed.explain(machine)] },
      },
    );
  }
}
