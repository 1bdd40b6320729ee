import { kubectlOn } from "./kubectl.js";

const namespace = "-n stackadm-samples";
const list = `${namespace} get pods -l app.kubernetes.io/name=web -o jsonpath='{range .items[*]}{.metadata.name} {.status.podIP} {.spec.nodeName}{"\\n"}{end}'`;

export interface Pod {
  readonly name: string;
  readonly address: string;
  readonly node: string;
}

/** Returns the samples' web pods with address and node. */
export async function webPods(serverId: string): Promise<Pod[]> {
  const lines = (await kubectlOn(serverId, list)).trim().split("\n");
  return lines.map((line) => {
    const [name = "", address = "", node = ""] = line.split(" ");
    return { name, address, node };
  });
}

/** Connects from a pod to `host:port`. Throws if there is no answer. */
export const connect = (serverId: string, from: Pod, target: string): Promise<string> =>
  kubectlOn(serverId, `${namespace} exec ${from.name} -- /agnhost connect ${target} --timeout=5s`);

const workers = "get nodes -l '!node-role.kubernetes.io/control-plane' -o name";

/**
 * Returns the samples' web pods, which are on different nodes if the cluster has several workers.
 * If all web pods are on one node, recreates one of them. This can happen because the anti-affinity
 * is soft, and only one node may have been schedulable when the pods started.
 */
async function apart(serverId: string): Promise<Pod[]> {
  const pods = await webPods(serverId);
  const [first] = pods;
  if (!first || pods.length < 2 || pods.some(({ node }) => node !== first.node)) return pods;
  if ((await kubectlOn(serverId, workers)).trim().split("\n").length < 2) return pods;
  await kubectlOn(serverId, `${namespace} delete pod ${first.name}`);
  await kubectlOn(serverId, `${namespace} rollout status deployment/web --timeout=120s`);
  return webPods(serverId);
}

/**
 * Connects from each web pod of the samples to the web pods on other nodes, to a Service by its DNS
 * name, and to `outside` (`host:port`). Returns the number of connections to other nodes. Throws if
 * a connection fails.
 */
export async function connectPods(
  serverId: string,
  outside: readonly string[] = [],
): Promise<number> {
  const pods = await apart(serverId);
  let crossing = 0;
  for (const from of pods) {
    const everywhere = ["kubernetes.default.svc.cluster.local:443", ...outside];
    for (const target of everywhere) await connect(serverId, from, target);
    for (const other of pods.filter(({ node }) => node !== from.node)) {
      await connect(serverId, from, `${other.address}:8080`);
      crossing += 1;
    }
  }
  return crossing;
}
