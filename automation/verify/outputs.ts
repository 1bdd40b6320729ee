import { z } from "zod";
import { ClusterError } from "../cluster/cluster-error.js";
import type { StackOutputs } from "../cluster/state.js";
import type { SshTarget } from "../../cloud/ssh.js";
import type { AskedMachine } from "./ssh.js";

const machine = z.looseObject({
  name: z.string(),
  role: z.string(),
  zone: z.string(),
  address: z.string(),
  sshHost: z.string().optional(),
  /** Absent in outputs of an earlier release. */
  sshUser: z.string().optional(),
  serverId: z.string(),
});

/** The stack outputs of the program, as far as the tools read them. */
const outputsSchema = z.looseObject({
  kubeconfig: z.string(),
  clusterName: z.string(),
  apiEndpoint: z.string(),
  nodes: z.array(machine),
  /** The machine that is nothing but the way to the nodes. */
  bastion: machine.nullish(),
  /** Machines that run etcd and nothing else. */
  etcd: z.array(machine).nullish(),
  /** Lines of a known_hosts file. */
  hostKeys: z.array(z.string()),
  samples: z
    .looseObject({
      namespace: z.string(),
      external: z.string().optional(),
      internal: z.string(),
      host: z.string().optional(),
      claim: z.string(),
      writerPod: z.string(),
    })
    .nullish(),
  /** Where the ingress controller is reached. */
  ingress: z.looseObject({ address: z.string(), public: z.boolean() }).nullish(),
});
export type ClusterOutputs = z.infer<typeof outputsSchema>;
export type MachineOutput = z.infer<typeof machine>;

/** The values of a stack's outputs, secret or not. */
export const valuesOf = (outputs: StackOutputs): Record<string, unknown> =>
  Object.fromEntries(Object.entries(outputs).map(([name, { value }]) => [name, value]));

/** A stack whose first `up` did not end has no outputs: that is said in words. */
export function parseOutputs(outputs: unknown): ClusterOutputs {
  const parsed = outputsSchema.safeParse(outputs);
  if (parsed.success) return parsed.data;
  const missing = parsed.error.issues.map(({ path }) => path.join("."));
  throw new ClusterError(
    "NOT_READY",
    `The stack has no cluster yet: its outputs lack ${missing.join(", ")}.`,
    "`npx stackadm up` goes on where an earlier one stopped.",
  );
}

/** The host key of `host` in lines of a known_hosts file. */
export function hostKeyOf(lines: readonly string[], host: string): string | undefined {
  for (const line of lines) {
    const [hosts = "", algorithm = "", key = ""] = line.trim().split(/\s+/);
    if (hosts.split(",").includes(host)) return `${algorithm} ${key}`;
  }
  return undefined;
}

/** Every machine of the cluster: its nodes, and those that are none. */
export const machinesOf = ({ nodes, bastion, etcd }: ClusterOutputs): MachineOutput[] => [
  ...nodes,
  ...[bastion, etcd].flatMap((apart) => apart ?? []),
];

/**
 * How to log in to the machine that is the way in, as the user that it names itself before that of `login`; undefined when none
 * has an address for SSH or a known host key.
 */
export function entryTarget(
  outputs: ClusterOutputs,
  login: { readonly user: string; readonly agentSocket: string },
): SshTarget | undefined {
  const { sshHost: host, sshUser: user = login.user } =
    machinesOf(outputs).find(({ sshHost }) => sshHost !== undefined) ?? {};
  if (host === undefined) return undefined;
  const hostKey = hostKeyOf(outputs.hostKeys, host);
  return hostKey === undefined ? undefined : { host, hostKey, ...login, user };
}

/** How to log in to a machine: at its own address for SSH, or through the one that is the way in. Undefined without a known key. */
export function targetOf(
  { address, sshHost, sshUser }: MachineOutput,
  { hostKeys }: Pick<ClusterOutputs, "hostKeys">,
  entry: SshTarget,
): AskedMachine | undefined {
  const host = sshHost ?? address;
  const hostKey = hostKeyOf(hostKeys, host);
  if (hostKey === undefined) return undefined;
  const through = sshHost === undefined && { through: entry };
  return { ...entry, host, hostKey, user: sshUser ?? entry.user, ...through };
}
