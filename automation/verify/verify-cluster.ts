import { sendHttpRequest } from "../../openstack/http/http-exchange.js";
import {
  requireHttpSuccess,
  runCheck,
  retryUntilSuccess,
  type Check,
  type VerificationRun,
  type VerifyOptions,
} from "./check.js";
import { KubernetesApi, readKubeAccess } from "./kubernetes-client.js";
import { checkRoles } from "./role-checks.js";
import { readNodes, type NodeReport } from "./read-nodes.js";
import type { ClusterOutputs } from "./cluster-outputs.js";
import { SshSessions } from "./ssh-sessions.js";
import { checkWorkloads } from "./workload-checks.js";

export interface Verification {
  readonly nodes: readonly NodeReport[];
  /** Checks of machines: health of each etcd member, and the login to the bastion. */
  readonly machines: readonly Check[];
  /**
   * Checks of the add-ons: whether all pods of each DaemonSet, Deployment and StatefulSet are
   * available. Empty if the user installs the pod network.
   */
  readonly addons: readonly Check[];
  readonly services: readonly Check[];
  readonly claims: readonly Check[];
  /** Whether the user installs the pod network. Nodes may then wait for the pod network. */
  readonly ownPodNetwork?: boolean | undefined;
  readonly ok: boolean;
}

/**
 * Returns whether the node is ready. If the user installs the pod network, also accepts a node that
 * waits only for the pod network.
 */
const fine = (node: NodeReport, { ownPodNetwork }: Pick<VerifyOptions, "ownPodNetwork">): boolean =>
  node.ready || (ownPodNetwork === true && node.reason.includes("NetworkPluginNotReady"));

/** HTTP server to check, and the name of the check. */
interface HttpTarget {
  readonly name: string;
  readonly address: string;
  readonly host?: string;
}

const whereOf = ({ address, host }: HttpTarget): string =>
  host === undefined ? `http://${address}/` : `http://${host}/ at ${address}`;

/** Checks an HTTP server from this computer. */
const checkOutside = (asked: HttpTarget, options: VerifyOptions): Promise<Check> =>
  runCheck(asked.name, whereOf(asked), {
    options,
    attempt: async () => {
      const headers: Record<string, string> = asked.host === undefined ? {} : { host: asked.host };
      return requireHttpSuccess(
        await sendHttpRequest(`http://${asked.address}/`, { timeout: 10_000, headers }),
      );
    },
  });

/** Checks an HTTP server from a machine of the cluster. */
const checkInside = (asked: HttpTarget, options: VerificationRun): Promise<Check> =>
  runCheck(asked.name, whereOf(asked), {
    options,
    attempt: async () => {
      const { address, host } = asked;
      const { entry, sessions } = options;
      if (!entry) throw new Error("no machine of the cluster can be reached by SSH");
      const fetched = await sessions.fetch(entry, address, { host });
      return `${requireHttpSuccess(fetched)} (asked on ${entry.host})`;
    },
  });

/** Checks the sample web server by its host name, through the ingress controller. */
async function checkIngress(options: VerificationRun): Promise<Check[]> {
  const { ingress, samples } = options.outputs;
  if (!ingress || samples?.host === undefined) return [];
  const asked = { name: "ingress", address: ingress.address, host: samples.host };
  return [await (ingress.public ? checkOutside : checkInside)(asked, options)];
}

async function checkServices(options: VerificationRun): Promise<Check[]> {
  const { samples } = options.outputs;
  if (!samples) return [];
  const external =
    samples.external === undefined
      ? []
      : [checkOutside({ name: "external service", address: samples.external }, options)];
  const internal = checkInside({ name: "internal service", address: samples.internal }, options);
  const [services, ingress] = await Promise.all([
    Promise.all([...external, internal]),
    checkIngress(options),
  ]);
  return [...services, ...ingress];
}

async function checkClaims(api: KubernetesApi, options: VerifyOptions): Promise<Check[]> {
  const { samples } = options.outputs;
  if (!samples) return [];
  const { namespace, writerPod, claim } = samples;
  const attempt = async (): Promise<string> => {
    const log = await api.text(
      `/api/v1/namespaces/${namespace}/pods/${writerPod}/log?tailLines=20`,
    );
    const proof = log.split("\n").findLast((line) => line.startsWith("read back:"));
    if (proof === undefined) throw new Error(`${writerPod} has not read its data back yet`);
    return proof;
  };
  return [await runCheck("claim", `${namespace}/${claim}`, { attempt, options })];
}

/**
 * Returns the nodes as soon as all nodes are ready. After the time limit, returns the nodes even if
 * some nodes are not ready.
 */
function checkNodes(api: KubernetesApi, options: VerifyOptions): Promise<NodeReport[]> {
  const wanted = new Set(options.outputs.nodes.map(({ name }) => name));
  const allReady = async (): Promise<NodeReport[]> => {
    options.onDetail?.("nodes");
    const found = await readNodes(api);
    // Ignores nodes of removed machines, which the cloud controller deletes later.
    const ours = found.filter(({ name }) => wanted.has(name));
    const late = ours.find((node) => !fine(node, options));
    const missing = wanted.size - ours.length;
    if (late) throw new Error(`${late.name} is not Ready: ${late.reason}`);
    if (missing > 0) throw new Error(`${missing} machines have not joined`);
    return found;
  };
  return retryUntilSuccess(allReady, options).catch(() => readNodes(api));
}

/** Checks the add-ons. Most of them need the pod network, which the user may not have installed. */
const checkAddons = (run: VerificationRun): Promise<Check[]> =>
  run.ownPodNetwork === true ? Promise.resolve([]) : checkWorkloads(run, run.workloads ?? []);

/**
 * Checks the finished cluster: nodes, etcd, add-ons, sample services, and the data on the sample claim.
 * Changes nothing. Reads from the outputs which machines and samples must exist. Does not use the
 * settings, because they may have changed after the last `up`. The settings also do not describe
 * the cluster of a custom program.
 */
export async function verifyCluster(options: VerifyOptions): Promise<Verification> {
  const api = new KubernetesApi(readKubeAccess(options.outputs.kubeconfig));
  const [sessions, over] = [new SshSessions(), new AbortController()];
  const signal = AbortSignal.any([over.signal, ...(options.signal ? [options.signal] : [])]);
  const run = { ...options, api, signal, sessions };
  const [nodes, machines, addons, services, claims] = await Promise.all([
    checkNodes(api, run),
    checkRoles(run),
    checkAddons(run),
    checkServices(run),
    checkClaims(api, run),
  ]).finally(() => {
    over.abort();
    sessions.close();
  });
  // A stopped verification has no result.
  options.signal?.throwIfAborted();
  const { outputs, ownPodNetwork } = options;
  const seen = { nodes, machines, addons, services, claims, ownPodNetwork };
  return { ...seen, ok: describeFailedChecks(seen, outputs).length === 0 };
}

/** Returns a line for each part of the cluster that does not work. */
export function describeFailedChecks(
  { nodes, machines, addons, services, claims, ownPodNetwork }: Omit<Verification, "ok">,
  outputs: Pick<ClusterOutputs, "nodes">,
): string[] {
  const lines = outputs.nodes.flatMap(({ name }) => {
    const node = nodes.find((one) => one.name === name);
    if (node === undefined) return [`node ${name}: has not joined`];
    return fine(node, { ownPodNetwork }) ? [] : [`node ${name}: not Ready: ${node.reason}`];
  });
  const failed = [...machines, ...addons, ...services, ...claims].filter(({ ok }) => !ok);
  return [...lines, ...failed.map(({ name, where, answer }) => `${name} ${where}: ${answer}`)];
}
