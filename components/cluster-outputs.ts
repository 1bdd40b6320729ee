import * as pulumi from "@pulumi/pulumi";
import type { MachineConnections } from "./machine/machine-connections.js";
import type { IngressController } from "./addons/ingress-controller.js";
import type { Samples } from "./addons/samples.js";
import type { SeparateRole } from "./config/roles.js";
import type { Member } from "./machine/machine-group.js";
import { separateGroupsIn, type SeparateGroups } from "./separate-groups.js";
import { compareVersions } from "../base/versions/pinned-versions.js";

/** Machine of the cluster, as an output for other tools. */
export interface NodeOutput {
  readonly name: string;
  readonly role: string;
  readonly zone: string;
  /** Address in the private network. */
  readonly address: string;
  /** IPv6 address; undefined if the machine has none. */
  readonly ipv6Address?: string;
  /** Address of the second interface; undefined if the machine has one interface. */
  readonly adminAddress?: string;
  /**
   * Address for SSH from outside. Undefined if the machine is reached through another one, at its
   * `address`.
   */
  readonly sshHost?: string;
  /**
   * Name of the machine through which SSH reaches this one; undefined if SSH reaches it directly.
   */
  readonly sshThrough?: string;
  /** Login name. */
  readonly sshUser: string;
  readonly serverId: string;
}

/** Addresses and names of the sample workloads. */
export interface SamplesOutput {
  readonly namespace: string;
  /** Floating IP that answers HTTP; undefined if no Service has one. */
  readonly external?: string;
  /** Address inside the private network that answers HTTP. */
  readonly internal: string;
  /**
   * Host name by which the ingress controller routes to the web server; undefined without ingress
   * controller.
   */
  readonly host?: string;
  readonly claim: string;
  readonly writerPod: string;
}

/** Ingress controller, as an output for DNS and clients. */
export interface IngressOutput {
  readonly address: string;
  /** Whether the address is a floating IP; otherwise only the machines' network reaches it. */
  readonly public: boolean;
}

/** Returns the earliest version of all nodes; undefined if the version of a node is unknown. */
export const earliestVersion = (
  versions: readonly pulumi.Output<string>[],
): pulumi.Output<string | undefined> =>
  pulumi
    .all([...versions])
    .apply((all) => (all.includes("") ? undefined : [...all].sort(compareVersions)[0]));

export const nodeOutputs = (
  members: readonly Member[],
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

/** Machines that are not nodes, by role. Only the roles that the cluster has. */
export type SeparateOutputs = {
  readonly [Of in SeparateRole]?: pulumi.Output<NodeOutput[]>;
};

export const separateOutputs = (
  groups: SeparateGroups,
  access: MachineConnections,
): SeparateOutputs =>
  Object.fromEntries(
    separateGroupsIn(groups).map(([role, { members }]) => [role, nodeOutputs(members, access)]),
  );

/** Returns the lines for a known_hosts file. */
export const hostKeysOf = (
  members: readonly Member[],
  access: MachineConnections,
): pulumi.Output<string[]> =>
  pulumi.all(
    members.map(({ machine }) => {
      const { address, hostKey } = machine;
      return pulumi
        .all([address, access.connectionTo(machine).host, hostKey])
        .apply(([inside, host, key]) => {
          // The second and third are equal if the machine is reached at its own address.
          const hosts = new Set([machine.machine, inside, host]);
          return `${[...hosts].join(",")} ${key}`;
        });
    }),
  );

export const samplesOutput = (samples?: Samples): pulumi.Output<SamplesOutput | undefined> =>
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

export const ingressOutput = (
  controller: IngressController | undefined,
  spec: { readonly public: boolean } | undefined,
): pulumi.Output<IngressOutput | undefined> =>
  pulumi.output(controller && spec && { address: controller.address, public: spec.public });
