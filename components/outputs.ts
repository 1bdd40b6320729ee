import * as pulumi from "@pulumi/pulumi";
import type { Access } from "./access/access.js";
import type { Samples } from "./addons/samples.js";
import type { Member } from "./machine/machine-group.js";

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

/** What the sample workloads offer. */
export interface SamplesOutput {
  readonly namespace: string;
  /** Floating IP that answers HTTP; absent where no service has one. */
  readonly external?: string;
  /** Address inside the private network that answers HTTP. */
  readonly internal: string;
  readonly claim: string;
  readonly writerPod: string;
}

export const nodesOf = (members: readonly Member[], access: Access): pulumi.Output<NodeOutput[]> =>
  pulumi.all(
    members.map(({ plan, machine }) => {
      const sshHost = access.hostOf(machine);
      return {
        name: machine.machine,
        role: plan.role,
        zone: machine.zone,
        address: machine.address,
        ...(sshHost && { sshHost }),
        serverId: machine.serverId,
      };
    }),
  );

/** Lines for a known_hosts file. */
export const hostKeysOf = (members: readonly Member[], access: Access): pulumi.Output<string[]> =>
  pulumi.all(
    members.map(({ machine }) => {
      const host = access.hostOf(machine);
      const more = host ? pulumi.interpolate`,${host}` : "";
      return pulumi.interpolate`${machine.machine},${machine.address}${more} ${machine.hostKey}`;
    }),
  );

export const samplesOf = (samples?: Samples): pulumi.Output<SamplesOutput | undefined> =>
  pulumi.output(
    samples && {
      namespace: samples.namespace,
      ...(samples.externalAddress && { external: samples.externalAddress }),
      internal: samples.internalAddress,
      claim: samples.claim,
      writerPod: samples.writerPod,
    },
  );
