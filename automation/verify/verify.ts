import { setTimeout as pause } from "node:timers/promises";
import { exchange } from "../../cloud/http.js";
import { KubernetesApi, readKubeAccess } from "./kubernetes-api.js";
import { readNodes, type NodeReport } from "./nodes.js";
import type { ClusterOutputs } from "./outputs.js";
import type { SshTarget } from "../../cloud/ssh.js";
import { fetchThrough, type Fetched } from "./ssh.js";

/** One check of the finished cluster and what was really seen. */
export interface Check {
  readonly name: string;
  readonly where: string;
  readonly ok: boolean;
  /** The answer that was fetched, or why there is none. */
  readonly answer: string;
}

export interface Verification {
  readonly nodes: readonly NodeReport[];
  readonly services: readonly Check[];
  readonly claims: readonly Check[];
  /** Whether nodes may wait for a pod network of the user's own. */
  readonly ownPodNetwork?: boolean | undefined;
  readonly ok: boolean;
}

export interface VerifyOptions {
  readonly outputs: ClusterOutputs;
  /** Whether the user brings the pod network along: a node that waits for it only is as it should be. */
  readonly ownPodNetwork?: boolean | undefined;
  /** A machine in the cluster's network, from which internal addresses are asked. */
  readonly entry?: SshTarget;
  readonly signal?: AbortSignal;
  /** Milliseconds in which each check must succeed. Default: 60 000. */
  readonly timeout?: number;
  readonly onDetail?: (text: string) => void;
}

/** Milliseconds to the next try: soon at first, for what is nearly there. */
const shortestPause = 100;
const longestPause = 1_000;

/** Tries until it succeeds or the time is over; the last failure is the answer. */
async function eventually<T>(
  attempt: () => Promise<T>,
  { timeout = 60_000, signal }: VerifyOptions,
): Promise<T> {
  const end = Date.now() + timeout;
  for (let next = shortestPause; ; next = Math.min(2 * next, longestPause)) {
    try {
      return await attempt();
    } catch (error) {
      const left = end - Date.now();
      if (left <= 0 || signal?.aborted === true) throw error;
      await pause(Math.min(next, left), undefined, { signal });
    }
  }
}

/** Ready, or waiting for the pod network that the user brings along, in kubelet's own word for it. */
const fine = (node: NodeReport, { ownPodNetwork }: Pick<VerifyOptions, "ownPodNetwork">): boolean =>
  node.ready || (ownPodNetwork === true && node.reason.includes("NetworkPluginNotReady"));

const oneLine = (text: string): string => text.trim().split("\n")[0]?.slice(0, 80) ?? "";

function accepted({ status, body }: Fetched): string {
  if (status !== 200) throw new Error(`HTTP ${status}: ${oneLine(body)}`);
  return `HTTP 200: ${oneLine(body)}`;
}

async function check(
  name: string,
  where: string,
  { attempt, options }: { attempt: () => Promise<string>; options: VerifyOptions },
): Promise<Check> {
  options.onDetail?.(`${name} ${where}`);
  try {
    return { name, where, ok: true, answer: await eventually(attempt, options) };
  } catch (error) {
    return {
      name,
      where,
      ok: false,
      answer: error instanceof Error ? error.message : String(error),
    };
  }
}

/** Something that answers HTTP, and by which name it is asked. */
interface Asked {
  readonly name: string;
  readonly address: string;
  readonly host?: string;
}

const whereOf = ({ address, host }: Asked): string =>
  host === undefined ? `http://${address}/` : `http://${host}/ at ${address}`;

/** From here. */
const checkOutside = (asked: Asked, options: VerifyOptions): Promise<Check> =>
  check(asked.name, whereOf(asked), {
    options,
    attempt: async () => {
      const headers: Record<string, string> = asked.host === undefined ? {} : { host: asked.host };
      return accepted(await exchange(`http://${asked.address}/`, { timeout: 10_000, headers }));
    },
  });

/** From a machine of the cluster. */
const checkInside = (asked: Asked, options: VerifyOptions): Promise<Check> =>
  check(asked.name, whereOf(asked), {
    options,
    attempt: async () => {
      const { address, host } = asked;
      const { entry } = options;
      if (!entry) throw new Error("no machine of the cluster can be reached by SSH");
      const fetched = await fetchThrough(entry, address, { host });
      return `${accepted(fetched)} (asked on ${entry.host})`;
    },
  });

/** The sample web server by its name, through the ingress controller. */
async function checkIngress(options: VerifyOptions): Promise<Check[]> {
  const { ingress, samples } = options.outputs;
  if (!ingress || samples?.host === undefined) return [];
  const asked = { name: "ingress", address: ingress.address, host: samples.host };
  return [await (ingress.public ? checkOutside : checkInside)(asked, options)];
}

async function checkServices(options: VerifyOptions): Promise<Check[]> {
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
    if (proof === undefined) throw new Error(`${writerPod} has not read anything back yet`);
    return proof;
  };
  return [await check("claim", `${namespace}/${claim}`, { attempt, options })];
}

/** Looks at the finished cluster from outside: nodes, sample services, the data on the claim. Changes nothing. */
export async function verifyCluster(options: VerifyOptions): Promise<Verification> {
  const api = new KubernetesApi(readKubeAccess(options.outputs.kubeconfig));
  const wanted = new Set(options.outputs.nodes.map(({ name }) => name));
  const allReady = async (): Promise<NodeReport[]> => {
    options.onDetail?.("nodes");
    const found = await readNodes(api);
    // The node of a machine that left stays until the cloud controller has noticed.
    const ours = found.filter(({ name }) => wanted.has(name));
    const late = ours.find((node) => !fine(node, options));
    const missing = wanted.size - ours.length;
    if (late) throw new Error(`${late.name} is not Ready: ${late.reason}`);
    if (missing > 0) throw new Error(`${missing} machines have not joined`);
    return found;
  };
  const [nodes, services, claims] = await Promise.all([
    // What is there is shown even when some of it never becomes ready.
    eventually(allReady, options).catch(() => readNodes(api)),
    checkServices(options),
    checkClaims(api, options),
  ]);
  // A look that was stopped says nothing about the cluster.
  options.signal?.throwIfAborted();
  const ready = nodes.filter((node) => fine(node, options) && wanted.has(node.name));
  const complete = ready.length === wanted.size;
  return {
    nodes,
    services,
    claims,
    ownPodNetwork: options.ownPodNetwork,
    ok: complete && [...services, ...claims].every(({ ok }) => ok),
  };
}

/** What does not work, a line each; nothing when all is well. */
export function shortcomings(
  { nodes, services, claims, ownPodNetwork }: Verification,
  { nodes: machines }: Pick<ClusterOutputs, "nodes">,
): string[] {
  const lines = machines.flatMap(({ name }) => {
    const node = nodes.find((one) => one.name === name);
    if (node === undefined) return [`node ${name}: has not joined`];
    return fine(node, { ownPodNetwork }) ? [] : [`node ${name}: not Ready: ${node.reason}`];
  });
  const failed = [...services, ...claims].filter(({ ok }) => !ok);
  return [...lines, ...failed.map(({ name, where, answer }) => `${name} ${where}: ${answer}`)];
}
