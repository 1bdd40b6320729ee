import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import type { ClusterSpec } from "../cluster-spec.js";
import { deriveKey, joinKeyPurpose } from "../identity/host-keys.js";
import { Machine, type MachineSettings } from "../machine/machine.js";
import { preparation, prepareScripts } from "../machine/preparation.js";
import { zoneAt } from "../network/address-plan.js";
import { Endpoint } from "../network/endpoint.js";
import { Component } from "../support/component.js";
import { RemoteScript, type RemoteScriptArgs, type SshHop } from "../support/remote-script.js";
import { initDocuments } from "./documents.js";
import { farewellScripts, initScripts, mintScript } from "./node-scripts.js";

export interface ControlPlaneArgs {
  readonly spec: ClusterSpec;
  readonly machines: MachineSettings;
  readonly flavorId: pulumi.Input<string>;
  readonly securityGroupIds: readonly pulumi.Input<string>[];
  /** The route between the machines and the external network. */
  readonly routerInterface: pulumi.Resource;
}

/** What only a living cluster knows. */
export interface ClusterFacts {
  /** kubeadm's own kubeconfig of the administrator. */
  readonly adminConf: pulumi.Output<string>;
  /** `sha256:...` of the cluster's certificate authority. */
  readonly caCertHash: pulumi.Output<string>;
  /** UID of the namespace kube-system: the cluster's identity. */
  readonly uid: pulumi.Output<string>;
}

/** The machine that runs the Kubernetes API, reachable at a floating IP, and the cluster that kubeadm made on it. */
export class ControlPlane extends Component {
  static readonly type = "stackadm:kubeadm:ControlPlane";
  readonly machine: Machine;
  readonly endpoint: Endpoint;
  /** The way in: workers are reached through it. */
  readonly hop: SshHop;
  /** Known only when the API answers. */
  readonly facts: ClusterFacts;

  constructor(name: string, args: ControlPlaneArgs, opts?: pulumi.ComponentResourceOptions) {
    super(ControlPlane.type, name, opts);
    const { spec } = args;
    const serverGroup = this.make(openstack.compute.ServerGroup, "server-group", {
      name: `${spec.name}-control-plane`,
      policies: ["soft-anti-affinity"],
    });
    this.machine = this.make(Machine, "0", {
      ...args.machines,
      machine: `${spec.name}-control-plane-0`,
      flavorId: args.flavorId,
      securityGroupIds: args.securityGroupIds,
      serverGroupId: serverGroup.id,
      zone: zoneAt(spec.zones, 0),
      // The only member: another machine would be another cluster, so there is no generation to raise.
      generation: 0,
    });
    this.endpoint = this.make(Endpoint, "endpoint", {
      clusterName: spec.name,
      externalNetwork: spec.externalNetwork,
      portId: this.machine.portId,
      routerInterface: args.routerInterface,
    });
    this.hop = this.machine.ssh(this.endpoint.address);
    const prepare = this.make(
      RemoteScript,
      "0-prepare",
      {
        connection: this.hop,
        scripts: prepareScripts,
        values: preparation(spec.kubernetes, "control-plane"),
        when: "up",
      },
      {
        hooks: {
          onError: [args.machines.failed.examine(this.machine.reachedBy(this.hop), "prepare")],
        },
      },
    );
    this.facts = this.init(args, prepare);
    this.registerOutputs({ address: this.endpoint.address });
  }

  /** The last thing that happens to the cluster: runs when it is deleted, before everything it depends on. */
  farewell(after: pulumi.Input<pulumi.Resource>[]): RemoteScript {
    return this.make(
      RemoteScript,
      "farewell",
      { connection: this.hop, scripts: farewellScripts, values: {}, when: "farewell" },
      // order: cloud controller, storage and workers have to be there while services and volumes are released.
      { dependsOn: after },
    );
  }

  private init({ spec, machines }: ControlPlaneArgs, prepare: RemoteScript): ClusterFacts {
    const { kubernetes, network } = spec;
    const frozen = {
      "kubernetes.version": kubernetes.version,
      "kubernetes.registry.prefix": kubernetes.registry.prefix,
      "kubernetes.kubelet": JSON.stringify(kubernetes.kubelet),
      "kubernetes.kubeProxy": JSON.stringify(kubernetes.kubeProxy),
      "network.pods": network.pods,
      "network.services": network.services,
      podNetwork: spec.podNetwork,
    };
    const document = pulumi
      .all([this.machine.serverId, this.machine.address, this.endpoint.address])
      .apply(([serverId, address, publicAddress]) =>
        initDocuments(
          { name: this.machine.machine, serverId, address },
          {
            clusterName: spec.name,
            version: kubernetes.version,
            imageRepository: kubernetes.registry.prefix,
            pods: network.pods,
            services: network.services,
            certificateAddresses: [publicAddress],
            ignorePreflightErrors: kubernetes.ignorePreflightErrors,
            kubelet: kubernetes.kubelet,
            kubeProxy: kubernetes.kubeProxy,
          },
        ),
      );
    const script: RemoteScriptArgs = {
      connection: this.hop,
      scripts: initScripts,
      values: {
        NODE_NAME: this.machine.machine,
        KUBEADM_CONFIG: document,
        FROZEN: Object.entries(frozen)
          .map(([key, value]) => `${key} ${value}`)
          .join("\n"),
        JOIN_PUBLIC_KEY: pulumi
          .output(machines.seed)
          .apply((seed) => deriveKey(seed, joinKeyPurpose).publicKey),
        MINT_SCRIPT: mintScript,
        NODE_RANGE: network.nodes,
        KUBELET: prepare.result("kubelet"),
      },
      when: "up",
    };
    const result = this.make(RemoteScript, "0-init", script, {
      hooks: { onError: [machines.failed.examine(this.machine.reachedBy(this.hop), "init")] },
    });
    return {
      adminConf: result
        .result("kubeconfig")
        .apply((encoded) => Buffer.from(encoded, "base64").toString("utf8")),
      caCertHash: result.result("caCertHash"),
      uid: pulumi.unsecret(result.result("uid")),
    };
  }
}
