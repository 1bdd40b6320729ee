import * as pulumi from "@pulumi/pulumi";
import type { Access } from "./machine/access.js";
import type { IngressController } from "./addons/ingress-controller.js";
import type { Samples } from "./addons/samples.js";
import type { Member } from "./machine/machine-group.js";
import { compareVersions } from "../base/versions.js";

/** A machine of the cluster, as tools want to know it. */
export interface NodeOutput {
  readonly name: string;
  readonly role: string;
  readonly zone: string;
  /** Address in the private network. */
  readonly address: string;
  /** Its address of IPv6; absent where there is none. */
  readonly ipv6Address?: string;
  /** Address of its second interface; absent where machines have one. */
  readonly adminAddress?: string;
  /** Address for SSH from outside. Absent where it is reached through another machine, at its `address`. */
  readonly sshHost?: string;
  /** Name of the machine through which SSH reaches it; absent where that is none. */
  readonly sshThrough?: string;
  /** User who logs in. */
  readonly sshUser: string;
  readonly serverId: string;
}

/** What the sample workloads offer. */
export interface SamplesOutput {
  readonly namespace: string;
  /** Floating IP that answers HTTP; absent where no service has one. */
  readonly external?: string;
  /** Address inside the private network that answers HTTP. */
  readonly internal: string;
  /** Name by which the ingress controller knows the web server; absent where there is none. */
  readonly host?: string;
  readonly claim: string;
  readonly writerPod: string;
}

/** The ingress controller, as DNS and clients want to know it. */
export interface IngressOutput {
  readonly address: string;
  /** Whether the address is a floating IP; otherwise only the machines' network reaches it. */
  readonly public: boolean;
}

/** The earliest version that a node has; undefined where it is not known of each. */
export const earliest = (
  versions: readonly pulumi.Output<string>[],
): pulumi.Output<string | undefined> =>
  pulumi
    .all([...versions])
    .apply((all) => (all.includes("") ? undefined : [...all].sort(compareVersions)[0]));

export const nodesOf = (members: readonly Member[], access: Access): pulumi.Output<NodeOutput[]> =>
  pulumi.all(
    members.map(({ plan, machine }) => {
      const { host, user, proxy } = access.route(machine);
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

/** Lines for a known_hosts file. */
export const hostKeysOf = (members: readonly Member[], access: Access): pulumi.Output<string[]> =>
  pulumi.all(
    members.map(({ machine }) => {
      const { address, hostKey } = machine;
      return pulumi
        .all([address, access.route(machine).host, hostKey])
        .apply(([inside, host, key]) => {
          // Where it is reached at its own address, these are one.
          const hosts = new Set([machine.machine, inside, host]);
          return `${[...hosts].join(",")} ${key}`;
        });
    }),
  );

export const samplesOf = (samples?: Samples): pulumi.Output<SamplesOutput | undefined> =>
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

export const ingressOf = (
  controller: IngressController | undefined,
  spec: { readonly public: boolean } | undefined,
): pulumi.Output<IngressOutput | undefined> =>
  pulumi.output(controller && spec && { address: controller.address, public: spec.public });
