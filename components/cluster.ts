import * as pulumi from "@pulumi/pulumi";
import { Addons } from "./addons/addons.js";
import { parseClusterSpec, type ClusterArgs, type ClusterSpec } from "./cluster-spec.js";
import { ApplicationCredential } from "./identity/application-credential.js";
import { ControlPlane } from "./kubeadm/control-plane.js";
import { Readiness } from "./kubeadm/readiness.js";
import { WorkerPool } from "./kubeadm/worker-pool.js";
import type { Machine, MachineSettings } from "./machine/machine.js";
import { Firewall } from "./network/firewall.js";
import { Network } from "./network/network.js";
import { lookUpCloud, type CloudFacts, type Wanted } from "./support/catalog.js";
import { Component } from "./support/component.js";
import { ArgumentError } from "./support/errors.js";
import { FailedMachines } from "./support/failed-machines.js";
import { RandomSeed } from "./support/remote-script.js";

/** A machine of the cluster, as tools want to know it. */
export interface NodeOutput {
  readonly name: string;
  readonly role: string;
  readonly zone: string;
  /** Address in the private network. */
  readonly address: string;
  /** Address for SSH from outside; machines without one are reached through the one that has it. */
  readonly sshHost?: string;
  readonly serverId: string;
}

/** Arguments of {@link Cluster}: the specification, and what is known of the cloud. */
export type ClusterComponentArgs = ClusterArgs & {
  /**
   * IDs of the things that the specification names. Awaiting them before the cluster is made keeps a wrong name from
   * leaving half a cluster behind. @default looked up by the component
   */
  readonly cloud?: pulumi.Input<CloudFacts>;
};

/** What has to be looked up for a cluster. */
export const wantedOf = (spec: ClusterSpec): Wanted => ({
  image: spec.image,
  externalNetwork: spec.externalNetwork,
  flavors: [spec.controlPlane.flavor, ...Object.values(spec.workers).map(({ flavor }) => flavor)],
});

/** What the sample workloads offer. */
export interface SamplesOutput {
  readonly namespace: string;
  /** Floating IP that answers HTTP. */
  readonly external: string;
  /** Address inside the private network that answers HTTP. */
  readonly internal: string;
  readonly claim: string;
  readonly writerPod: string;
}

/**
 * A Kubernetes cluster on OpenStack.
 *
 * @example
 * const cluster = new Cluster("dev", {
 *   image: "debian-12", externalNetwork: "public", allowedCidrs: ["203.0.113.0/24"],
 *   controlPlane: { flavor: "m1.medium" }, workers: { general: { flavor: "m1.medium", count: 2 } },
 *   ssh: { publicKey: "ssh-ed25519 AAAA..." },
 * });
 */
export class Cluster extends Component {
  static readonly type = "stackadm:index:Cluster";
  /** The administrator's kubeconfig; secret, known only when the API answers. */
  readonly kubeconfig: pulumi.Output<string>;
  /** `https://203.0.113.7:6443` */
  readonly apiEndpoint: pulumi.Output<string>;
  /** UID of the cluster. */
  readonly clusterId: pulumi.Output<string>;
  readonly clusterName: string;
  readonly nodes: pulumi.Output<NodeOutput[]>;
  /** Lines for a known_hosts file. */
  readonly hostKeys: pulumi.Output<string[]>;
  /** Absent when no samples are asked for. */
  readonly samples: pulumi.Output<SamplesOutput | undefined>;

  constructor(name: string, args: ClusterComponentArgs, opts?: pulumi.ComponentResourceOptions) {
    super(Cluster.type, name, opts);
    const { cloud: facts, ...written } = args;
    const spec = this.check(name, written);
    const cloud = pulumi.output(facts ?? lookUpCloud(wantedOf(spec), { parent: this }));
    const { externalNetworkId, scope } = cloud;

    const network = this.make(Network, "network", {
      clusterName: spec.name,
      externalNetworkId,
      nodes: spec.network.nodes,
      dns: spec.network.dns,
    });
    const firewall = this.make(Firewall, "firewall", {
      clusterName: spec.name,
      allowedCidrs: spec.allowedCidrs,
      nodes: spec.network.nodes,
      pods: spec.network.pods,
      loadBalancerProvider: spec.loadBalancer.provider,
    });
    const credential = this.make(ApplicationCredential, "credential", {
      clusterName: spec.name,
      scope,
    });
    const machines = this.machineSettings(spec, network, cloud);
    const controlPlane = this.make(ControlPlane, "control-plane", {
      spec,
      machines,
      routerInterface: network.routerInterface,
      flavorId: flavorOf(cloud, spec.controlPlane.flavor),
      securityGroupIds: firewall.groupIds("control-plane"),
    });
    const pools = Object.entries(spec.workers).map(([pool, size]) =>
      this.make(WorkerPool, `workers-${pool}`, {
        spec,
        pool,
        size,
        machines,
        controlPlane,
        flavorId: flavorOf(cloud, size.flavor),
        securityGroupIds: firewall.groupIds("worker"),
      }),
    );
    const readiness = this.make(Readiness, "readiness", { clusterName: spec.name, controlPlane });
    const made = { network, credential, controlPlane, pools, readiness, cloud };

    this.kubeconfig = readiness.kubeconfig;
    this.apiEndpoint = readiness.apiEndpoint;
    this.clusterId = controlPlane.facts.uid;
    this.clusterName = spec.name;
    this.nodes = nodesOf(controlPlane, pools);
    this.hostKeys = hostKeysOf(controlPlane, pools);
    this.samples = samplesOf(this.addons(spec, made));
    this.registerOutputs({ apiEndpoint: this.apiEndpoint, clusterId: this.clusterId });
  }

  private check(name: string, args: ClusterArgs): ClusterSpec {
    const result = parseClusterSpec({ ...args, name: args.name ?? name });
    if ("problems" in result) throw new ArgumentError(this, result.problems);
    return result.spec;
  }

  private machineSettings(
    spec: ClusterSpec,
    network: Network,
    cloud: pulumi.Output<CloudFacts>,
  ): MachineSettings {
    return {
      clusterName: spec.name,
      imageId: cloud.imageId,
      networkId: network.networkId,
      subnetId: network.subnetId,
      routedRanges: [spec.network.pods, spec.network.services],
      login: spec.ssh,
      seed: this.make(RandomSeed, "seed", {}).seed,
      failed: FailedMachines.ofStack(),
    };
  }

  private addons(
    spec: ClusterSpec,
    made: {
      readonly network: Network;
      readonly credential: ApplicationCredential;
      readonly controlPlane: ControlPlane;
      readonly pools: readonly WorkerPool[];
      readonly readiness: Readiness;
      readonly cloud: pulumi.Output<CloudFacts>;
    },
  ): Addons {
    const { network, credential, controlPlane, cloud } = made;
    return this.make(Addons, "addons", {
      clusterName: spec.name,
      kubernetesVersion: spec.kubernetes.version,
      registry: spec.kubernetes.registry,
      kubeconfig: made.readiness.kubeconfig,
      podNetwork: { kind: spec.podNetwork },
      podCidr: spec.network.pods,
      serviceCidr: spec.network.services,
      podMtu: network.mtu,
      cloud: {
        authUrl: cloud.scope.authUrl,
        region: cloud.scope.region,
        applicationCredentialId: credential.id,
        applicationCredentialSecret: credential.secret,
        subnetId: network.subnetId,
        networkId: network.networkId,
        floatingNetworkId: cloud.externalNetworkId,
        loadBalancerProvider: spec.loadBalancer.provider,
      },
      storageClasses: spec.storageClasses,
      samples: spec.samples,
      deletedWith: controlPlane.machine.server,
      farewell: ({ workloads }) =>
        controlPlane.farewell([...workloads, ...made.pools.flatMap((pool) => pool.joins)]),
    });
  }
}

const flavorOf = (cloud: pulumi.Output<CloudFacts>, name: string): pulumi.Output<string> =>
  cloud.flavorIds.apply((ids) => ids[name] ?? "");

type Placed = readonly {
  readonly machine: Machine;
  readonly role: string;
  readonly public?: true;
}[];

const placed = (controlPlane: ControlPlane, pools: readonly WorkerPool[]): Placed => [
  { machine: controlPlane.machine, role: "control-plane", public: true },
  ...pools.flatMap((pool) => pool.machines.map((machine) => ({ machine, role: "worker" }))),
];

function nodesOf(
  controlPlane: ControlPlane,
  pools: readonly WorkerPool[],
): pulumi.Output<NodeOutput[]> {
  return pulumi.all(
    placed(controlPlane, pools).map(({ machine, role, ...rest }) => ({
      name: machine.machine,
      role,
      zone: machine.zone,
      address: machine.address,
      ...(rest.public && { sshHost: controlPlane.endpoint.address }),
      serverId: machine.serverId,
    })),
  );
}

function hostKeysOf(
  controlPlane: ControlPlane,
  pools: readonly WorkerPool[],
): pulumi.Output<string[]> {
  return pulumi.all(
    placed(controlPlane, pools).map(({ machine, ...rest }) => {
      const more = rest.public ? pulumi.interpolate`,${controlPlane.endpoint.address}` : "";
      return pulumi.interpolate`${machine.machine},${machine.address}${more} ${machine.hostKey}`;
    }),
  );
}

function samplesOf({ samples }: Addons): pulumi.Output<SamplesOutput | undefined> {
  return pulumi.output(
    samples && {
      namespace: samples.namespace,
      external: samples.externalAddress,
      internal: samples.internalAddress,
      claim: samples.claim,
      writerPod: samples.writerPod,
    },
  );
}
