import assert from "node:assert/strict";
import { Cluster } from "../../components/cluster.js";
import type { ClusterArgs } from "../../components/config/cluster-spec.js";
import { cloudAnswers } from "../support/cloud/cloud-answers.js";
import { exampleArgs } from "../support/config/examples.js";
import { graph } from "../support/graph/graph.js";
import { inServer } from "../lab/support/machines/machines.js";
import type { Stack } from "../lab/support/stack/stack.js";

const apply =
  "KUBECONFIG=/etc/kubernetes/admin.conf kubectl apply --server-side --force-conflicts --dry-run=server -f -";

/**
 * Applies objects to a running API server as a dry run; returns their output in the format `shown`.
 */
const dryRun = async (stack: Stack, objects: unknown, shown: string): Promise<string> => {
  const server = stack.serverOf("control-plane-0");
  return (await inServer(server, `${apply} -o ${shown}`, JSON.stringify(objects))).trim();
};

/**
 * Applies the objects of a pod network that the lab's kernel does not support, as a dry run on a
 * running API server. Requires that the server accepts all; returns their number.
 */
export async function podNetworkDryRun(
  stack: Stack,
  podNetwork: NonNullable<ClusterArgs["podNetwork"]>,
): Promise<number> {
  const args = { ...exampleArgs("one-control-plane"), podNetwork };
  const rows = await graph(() => new Cluster(stack.name, args), cloudAnswers);
  const items = rows
    .filter(({ type, name }) => type.startsWith("kubernetes:") && name.includes("-network-"))
    .map(({ inputs }) => inputs);
  const answer = await dryRun(stack, { apiVersion: "v1", kind: "List", items }, "name");
  const accepted = answer.split("\n").filter(Boolean);
  assert.equal(accepted.length, items.length);
  assert.ok(accepted.some((line) => line.startsWith("daemonset")));
  return accepted.length;
}

/**
 * Returns the address that the API server would set for the external sample service with these
 * settings.
 */
export async function serviceDryRun(
  stack: Stack,
  sampleServices: NonNullable<ClusterArgs["sampleServices"]>,
): Promise<string> {
  const args = { ...exampleArgs("external-and-internal-lb"), sampleServices };
  const rows = await graph(() => new Cluster(stack.name, args), cloudAnswers);
  const service = rows.find(
    ({ type, name }) => type === "kubernetes:core/v1:Service" && name.endsWith("-web-external"),
  );
  assert.ok(service);
  return dryRun(stack, service.inputs, "jsonpath={.spec.loadBalancerIP}");
}
