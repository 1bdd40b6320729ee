import { Failure } from "../../../../base/failures/failure.js";
import type { CloudClient } from "../../../../openstack/client/cloud-client.js";
import { listObjects } from "../../../../openstack/inventory/inventory.js";
import type { ListeningService } from "../../../support/engine/listening-service.js";
import { kubectlOn } from "../kubernetes/kubectl.js";
import { inServer } from "../machines/machines.js";

/** Shell line that prints routes, BGP connections and the size of kube-proxy's rules. */
const nodeState = [
  "ip -4 route",
  "ss -tnH '( sport = :179 or dport = :179 )'",
  "nft list table ip kube-proxy 2>/dev/null | wc -l",
  "iptables-save -t nat 2>/dev/null | grep -c KUBE- || :",
].join("; ");

const queries = [
  "get nodes,services,endpointslices,pods -A -o wide",
  "-n kube-system logs -l app.kubernetes.io/name=kube-router --prefix --tail=300",
  "-n kube-system logs -l k8s-app=kube-proxy --prefix --tail=50",
];

/**
 * Returns the network state of a cluster's machines and pods, for a failure whose cause would be
 * gone when the cluster is destroyed.
 */
export async function describeNetwork(cloud: CloudClient, cluster: string): Promise<string> {
  const servers = await listObjects(cloud, "server");
  const own = servers.filter(({ name }) => name.startsWith(`${cluster}-`));
  const states = await Promise.all(
    own.map(async ({ id, name }) => `${name}:\n${await inServer(id, nodeState).catch(String)}`),
  );
  const first = own.find(({ name }) => name.endsWith("control-plane-0"));
  if (first)
    for (const query of queries)
      states.push(`kubectl ${query}:\n${await kubectlOn(first.id, query).catch(String)}`);
  return states.join("\n");
}

/** Returns the service. Its `up` prints the network state if the created cluster does not work. */
export const explainFailures = (
  service: ListeningService,
  cloud: CloudClient,
  cluster: string,
): ListeningService => ({
  ...service,
  up: async (stack, options) => {
    try {
      return await service.up(stack, options);
    } catch (error) {
      if (error instanceof Failure && error.code === "VERIFY_FAILED")
        process.stderr.write(`${error.message}\n${await describeNetwork(cloud, cluster)}\n`);
      throw error;
    }
  },
});
