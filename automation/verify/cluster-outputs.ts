import { z } from "zod";
import { Failure } from "../../base/failures/failure.js";
import type { StackOutputs } from "../pulumi/stack-state.js";
import type { SshRoute, SshTarget } from "../../base/ssh-client.js";
import { listSeparateRoles, type SeparateRole } from "../../components/config/roles.js";

const machine = z.looseObject({
  name: z.string(),
  role: z.string(),
  zone: z.string(),
  address: z.string(),
  sshHost: z.string().optional(),
  /** Name of the machine that is the SSH proxy for a machine without `sshHost`. */
  sshThrough: z.string().optional(),
  /** Name of the login user. @default user of the login data */
  sshUser: z.string().optional(),
  serverId: z.string(),
});

const separateMachines = Object.fromEntries(
  listSeparateRoles().map((role) => [role, z.array(machine).nullish()]),
) as Readonly<Record<SeparateRole, z.ZodOptional<z.ZodNullable<z.ZodArray<typeof machine>>>>>;

/** Outputs of the program that the tools read. */
const outputsSchema = z.looseObject({
  kubeconfig: z.string(),
  clusterName: z.string(),
  apiEndpoint: z.string(),
  nodes: z.array(machine),
  /** Machines that are not nodes, by role. */
  ...separateMachines,
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
  /** Address of the ingress controller. */
  ingress: z.looseObject({ address: z.string(), public: z.boolean() }).nullish(),
});
export type ClusterOutputs = z.infer<typeof outputsSchema>;
export type MachineOutput = z.infer<typeof machine>;

/** Returns the values of a stack's outputs, including secret values. */
export const outputValues = (outputs: StackOutputs): Record<string, unknown> =>
  Object.fromEntries(Object.entries(outputs).map(([name, { value }]) => [name, value]));

/**
 * Parses the outputs. Throws NOT_READY if outputs are missing, for example because the first `up`
 * did not finish.
 */
export function parseOutputs(outputs: unknown): ClusterOutputs {
  const parsed = outputsSchema.safeParse(outputs);
  if (parsed.success) return parsed.data;
  const missing = parsed.error.issues.map(({ path }) => path.join("."));
  throw new Failure(
    "NOT_READY",
    `The stack has no cluster yet: its outputs lack ${missing.join(", ")}.`,
    "Run `stackadm up`, which continues where an earlier one stopped. Your own program must export these outputs of its `Cluster`.",
  );
}

/** Returns the host key of `host` in lines of a known_hosts file, or undefined if there is none. */
export function findHostKey(lines: readonly string[], host: string): string | undefined {
  for (const line of lines) {
    const [hosts = "", algorithm = "", key = ""] = line.trim().split(/\s+/);
    if (hosts.split(",").includes(host)) return `${algorithm} ${key}`;
  }
  return undefined;
}

/** Returns every machine of the cluster: the nodes first, then the other machines by role. */
export const getMachines = (outputs: ClusterOutputs): MachineOutput[] => [
  ...outputs.nodes,
  ...listSeparateRoles().flatMap((role) => outputs[role] ?? []),
];

/** Login data for all machines. `sshUser` of a machine overrides the user in the login data. */
type Login = Omit<SshTarget, "host" | "hostKey">;

/**
 * Returns the first machine that SSH reaches without a proxy. From this machine, the verification
 * checks internal addresses.
 */
const entryOf = (outputs: ClusterOutputs): MachineOutput | undefined =>
  getMachines(outputs).find(({ sshHost }) => sshHost !== undefined);

function hopTo(
  { address, sshHost: host = address, sshUser }: MachineOutput,
  { hostKeys }: ClusterOutputs,
  login: Login,
): SshTarget | undefined {
  const hostKey = findHostKey(hostKeys, host);
  return hostKey === undefined
    ? undefined
    : { ...login, host, hostKey, user: sshUser ?? login.user };
}

/**
 * Returns the login data for the first machine that SSH reaches without a proxy. Undefined if there
 * is no such machine, or its host key is unknown.
 */
export function findEntrySshTarget(outputs: ClusterOutputs, login: Login): SshTarget | undefined {
  const entry = entryOf(outputs);
  return entry && hopTo(entry, outputs, login);
}

/**
 * Returns the login data for a machine, through an SSH proxy if the outputs name one. Undefined if
 * the proxy or a host key is unknown.
 */
export function findSshRoute(
  machine: MachineOutput,
  outputs: ClusterOutputs,
  login: Login,
): SshRoute | undefined {
  const target = hopTo(machine, outputs, login);
  const { sshHost, sshThrough } = machine;
  if (sshHost !== undefined) return target;
  const hop = getMachines(outputs).find(({ name }) => name === sshThrough);
  const proxy = hop && hopTo(hop, outputs, login);
  return target && proxy && { ...target, proxy };
}
