import * as pulumi from "@pulumi/pulumi";
import type { MachineConnections } from "./machine/machine-connections.js";
import type { IngressController } from "./addons/ingress-controller.js";
import type { Samples } from "./addons/samples.js";
import type { SeparateRole } from "./config/roles.js";
import type { MachineGroupMember } from "./machine/machine-group.js";
import { listSeparateGroups, type SeparateGroups } from "./separate-groups.js";
import { compareVersions } from "../base/versions/pinned-versions.js";

/** Description of a machine in the stack's outputs, for other tools. */
export interface NodeOutput {
  readonly name: string;
  readonly role: string;
  readonly zone: string;
  /** IPv4 address in the machines' network. */
  readonly address: string;
  /** IPv6 address. Undefined if the machine has none. */
  readonly ipv6Address?: string;
  /** Address of the second interface. Undefined if the machine has only one interface. */
  readonly adminAddress?: string;
  /**
   * Address to which SSH connects. Undefined if SSH goes through another machine, which connects to
   * `address`.
   */
  readonly sshHost?: string;
  /**
   * Name of the machine through which SSH reaches this machine. Undefined if SSH connects directly.
   */
  readonly sshThrough?: string;
  /** Login name for SSH. */
  readonly sshUser: string;
  readonly serverId: string;
}

/** Addresses and names of the sample workloads. */
export interface SamplesOutput {
  readonly namespace: string;
  /**
   * Floating IP at which the sample web server answers HTTP. Undefined if no sample Service has a
   * floating IP.
   */
  readonly external?: string;
  /** Internal address at which the sample web server answers HTTP. */
  readonly internal: string;
  /**
   * Host name for requests. The ingress controller forwards requests with this name to the sample
   * web server. Undefined without an ingress controller.
   */
  readonly host?: string;
  readonly claim: string;
  readonly writerPod: string;
}

/** Address of the ingress controller in the stack's outputs, for DNS records and clients. */
export interface IngressOutput {
  readonly address: string;
  /** Whether the address is a floating IP. Otherwise only the machines' network reaches it. */
  readonly public: boolean;
}

/** Outputs of a stack that has a cluster. The commands of stackadm read them. */
export type StackOutputs = Readonly<Record<string, pulumi.Input<unknown>>>;

/** Outputs of {@link StackOutputs} that every cluster has. */
const outputNames = [
  ...(["kubeconfig", "apiEndpoint", "nodes", "hostKeys"] as const),
  ...(["clusterName", "clusterId", "identity"] as const),
] as const;

type ExportedOutputs = Record<
  (typeof outputNames)[number] | "samples" | "ingress",
  pulumi.Input<unknown>
> & { readonly separateMachines: SeparateMachineOutputs };

/** Returns the outputs of a stack. Leaves out the parts that the cluster does not have. */
export const getStackOutputs = (
  cluster: ExportedOutputs,
  { samples, ingress }: { readonly samples: boolean; readonly ingress?: object | undefined },
): StackOutputs => ({
  ...Object.fromEntries(outputNames.map((name) => [name, cluster[name]])),
  ...cluster.separateMachines,
  ...(samples && { samples: cluster.samples }),
  ...(ingress && { ingress: cluster.ingress }),
});

/**
 * Returns the lowest Kubernetes version of all nodes. Undefined if the version of a node is
 * unknown.
 */
export const findLowestVersion = (
  versions: readonly pulumi.Output<string>[],
): pulumi.Output<string | undefined> =>
  pulumi
    .all([...versions])
    .apply((all) => (all.includes("") ? undefined : [...all].sort(compareVersions)[0]));

export const getNodeOutputs = (
  members: readonly MachineGroupMember[],
  access: MachineConnections,
): pulumi.Output<NodeOutput[]> =>
  pulumi.all(
    members.map(({ plan, machine }) => {
      const { host, user, proxy } = access.connectionTo(machine);
      return {
        name: machine.machine,
        role: plan.role,
        zone: machine.zone,
        address: machine.address,
        ...(machine.ipv6Address && { ipv6Address: machine.ipv6Address }),
        ...(machine.adminAddress && { adminAddress: machine.adminAddress }),
        ...(proxy ? { sshThrough: proxy.machine } : { sshHost: host }),
        sshUser: user,
        serverId: machine.serverId,
      };
    }),
  );

/**
 * Descriptions of the machines that are not nodes, by role. Contains only roles that the cluster
 * has.
 */
export type SeparateMachineOutputs = {
  readonly [Of in SeparateRole]?: pulumi.Output<NodeOutput[]>;
};

export const getSeparateMachineOutputs = (
  groups: SeparateGroups,
  access: MachineConnections,
): SeparateMachineOutputs =>
  Object.fromEntries(
    listSeparateGroups(groups).map(([role, { members }]) => [
      role,
      getNodeOutputs(members, access),
    ]),
  );

/**
 * Returns a line of a known_hosts file for each machine, with its name, its addresses and its host
 * key.
 */
export const getKnownHostsLines = (
  members: readonly MachineGroupMember[],
  access: MachineConnections,
): pulumi.Output<string[]> =>
  pulumi.all(
    members.map(({ machine }) => {
      const { address, hostKey } = machine;
      return pulumi
        .all([address, access.connectionTo(machine).host, hostKey])
        .apply(([inside, host, key]) => {
          // `host` equals `inside` if SSH connects to the machine's own address.
          const hosts = new Set([machine.machine, inside, host]);
          return `${[...hosts].join(",")} ${key}`;
        });
    }),
  );

export const getSamplesOutput = (samples?: Samples): pulumi.Output<SamplesOutput | undefined> =>
  pulumi.output(
    samples && {
      namespace: samples.namespace,
      ...(samples.externalAddress && { external: samples.externalAddress }),
      internal: samples.internalAddress,
      ...(samples.host !== undefined && { host: samples.host }),
      claim: samples.claim,
      writerPod: samples.writerPod,
    },
  );

export const getIngressOutput = (
  controller: IngressController | undefined,
  spec: { readonly public: boolean } | undefined,
): pulumi.Output<IngressOutput | undefined> =>
  pulumi.output(controller && spec && { address: controller.address, public: spec.public });
