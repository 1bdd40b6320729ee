import { z } from "zod";
import { ClusterError } from "../cluster/cluster-error.js";
import type { StackOutputs } from "../cluster/state.js";
import type { SshRoute, SshTarget } from "../../cloud/ssh.js";

const machine = z.looseObject({
  name: z.string(),
  role: z.string(),
  zone: z.string(),
  address: z.string(),
  sshHost: z.string().optional(),
  /** Name of the machine through which one without `sshHost` is reached. Absent in outputs of an earlier release. */
  sshThrough: z.string().optional(),
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
    "`npx stackadm up` goes on where an earlier one stopped; a program of your own has to export them of its `Cluster`.",
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

/** With what somebody logs in, as the user that a machine names itself before this one. */
type Login = Omit<SshTarget, "host" | "hostKey">;

/** The machine that is asked what only machines of the cluster reach: the first one that is reached from here. */
const entryOf = (outputs: ClusterOutputs): MachineOutput | undefined =>
  machinesOf(outputs).find(({ sshHost }) => sshHost !== undefined);

function hopTo(
  { address, sshHost: host = address, sshUser }: MachineOutput,
  { hostKeys }: ClusterOutputs,
  login: Login,
): SshTarget | undefined {
  const hostKey = hostKeyOf(hostKeys, host);
  return hostKey === undefined
    ? undefined
    : { ...login, host, hostKey, user: sshUser ?? login.user };
}

/** How to log in to the machine that is the way in; undefined when none has an address for SSH or a known host key. */
export function entryTarget(outputs: ClusterOutputs, login: Login): SshTarget | undefined {
  const entry = entryOf(outputs);
  return entry && hopTo(entry, outputs, login);
}

/** How to log in to a machine, by the way that the outputs say. Undefined without a known key of each on it. */
export function targetOf(
  machine: MachineOutput,
  outputs: ClusterOutputs,
  login: Login,
): SshRoute | undefined {
  const target = hopTo(machine, outputs, login);
  const { sshHost, sshThrough } = machine;
  if (sshHost !== undefined) return target;
  const hop =
    sshThrough === undefined
      ? // Outputs of an earlier release: one was the way to all others.
        entryOf(outputs)
      : machinesOf(outputs).find(({ name }) => name === sshThrough);
  const proxy = hop && hopTo(hop, outputs, login);
  return target && proxy && { ...target, proxy };
}
