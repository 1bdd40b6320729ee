import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import type { ClusterSpec } from "../cluster-spec.js";
import { deriveKey, joinKeyPurpose } from "../identity/host-keys.js";
import { Machine, type MachineSettings } from "../machine/machine.js";
import { preparation, prepareScripts } from "../machine/preparation.js";
import { zoneAt } from "../network/address-plan.js";
import { Component } from "../support/component.js";
import { RemoteScript, type Connection, type RemoteScriptArgs } from "../support/remote-script.js";
import type { ControlPlane } from "./control-plane.js";
import { apiPort, joinDocument } from "./documents.js";
import { joinScripts } from "./node-scripts.js";

export interface WorkerPoolArgs {
  readonly spec: ClusterSpec;
  /** Name of the pool in the specification. */
  readonly pool: string;
  readonly size: ClusterSpec["workers"][string];
  readonly machines: MachineSettings;
  readonly flavorId: pulumi.Input<string>;
  readonly securityGroupIds: readonly pulumi.Input<string>[];
  readonly controlPlane: ControlPlane;
}

/** Equal workers, each prepared and joined without waiting for another. */
export class WorkerPool extends Component {
  static readonly type = "stackadm:kubeadm:WorkerPool";
  readonly machines: readonly Machine[];
  /** Each machine's join; done means that its node is in the cluster. */
  readonly joins: readonly RemoteScript[];

  constructor(name: string, args: WorkerPoolArgs, opts?: pulumi.ComponentResourceOptions) {
    super(WorkerPool.type, name, opts);
    const serverGroup = this.make(openstack.compute.ServerGroup, "server-group", {
      name: `${args.spec.name}-${args.pool}`,
      policies: ["soft-anti-affinity"],
    });
    const members = Array.from({ length: args.size.count }, (_, position) =>
      this.member(args, position, serverGroup.id),
    );
    this.machines = members.map(({ machine }) => machine);
    this.joins = members.map(({ join }) => join);
    this.registerOutputs({});
  }

  private member(
    args: WorkerPoolArgs,
    position: number,
    serverGroupId: pulumi.Output<string>,
  ): { machine: Machine; join: RemoteScript } {
    const { spec, pool, size, controlPlane } = args;
    const machine = this.make(Machine, String(position), {
      ...args.machines,
      machine: `${spec.name}-${pool}-${String(position)}`,
      flavorId: args.flavorId,
      securityGroupIds: args.securityGroupIds,
      serverGroupId,
      zone: zoneAt(spec.zones, position),
      generation: size.generation,
    });
    const connection = { ...machine.ssh(machine.address), proxy: controlPlane.hop };
    const prepare = this.make(
      RemoteScript,
      `${String(position)}-prepare`,
      {
        connection,
        scripts: prepareScripts,
        values: preparation(spec.kubernetes, "worker"),
        when: "up",
      },
      {
        hooks: {
          onError: [args.machines.failed.examine(machine.reachedBy(connection), "prepare")],
        },
      },
    );
    const join = this.join(args, { machine, prepare, connection, position });
    return { machine, join };
  }

  private join(
    { spec, pool, machines, controlPlane }: WorkerPoolArgs,
    member: { machine: Machine; prepare: RemoteScript; connection: Connection; position: number },
  ): RemoteScript {
    const { machine, prepare, connection, position } = member;
    const first = controlPlane.machine;
    const document = pulumi
      .all([machine.serverId, machine.address, first.address, controlPlane.facts.caCertHash])
      .apply(([serverId, address, apiAddress, caCertHash]) =>
        joinDocument(
          { name: machine.machine, serverId, address, pool },
          {
            endpoint: `${apiAddress}:${String(apiPort)}`,
            caCertHash,
            ignorePreflightErrors: spec.kubernetes.ignorePreflightErrors,
          },
        ),
      );
    const script: RemoteScriptArgs = {
      connection,
      scripts: joinScripts,
      values: {
        NODE_NAME: machine.machine,
        SERVER_ID: machine.serverId,
        KUBEADM_CONFIG: document,
        CONTROL_PLANE_ADDRESS: first.address,
        CONTROL_PLANE_HOST_KEY: first.hostKey,
        JOIN_PRIVATE_KEY: pulumi
          .output(machines.seed)
          .apply((seed) => deriveKey(seed, joinKeyPurpose).privateKey),
        KUBELET: prepare.result("kubelet"),
      },
      when: "up",
    };
    return this.make(RemoteScript, `${String(position)}-join`, script, {
      hooks: {
        onError: [machines.failed.examine(machine.reachedBy(connection), "join")],
      },
    });
  }
}
