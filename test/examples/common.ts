import assert from "node:assert/strict";
import { listObjects } from "../../openstack/inventory/inventory.js";
import type { Point } from "./example.js";
import { until } from "../lab/support/cloud/foreign.js";
import { kubectlOn } from "../lab/support/kubernetes/kubectl.js";
import { provePolicy } from "../lab/support/kubernetes/network-policy.js";
import { connectPods } from "../lab/support/kubernetes/pods.js";
import type { Stack } from "../lab/support/stack/stack.js";

/** Checks and points that several examples share. */

/** Runs kubectl on the first control plane. */
export const ask = async (stack: Stack, line: string): Promise<string> =>
  (await kubectlOn(stack.serverOf("control-plane-0"), line)).trim();

/** Returns the address and the answer of a sample, as `status` verified it. */
export async function answerOf(stack: Stack, name: string): Promise<string> {
  const { verification } = await stack.cluster.service.status(stack.name);
  const checks = [...(verification?.services ?? []), ...(verification?.claims ?? [])];
  const found = checks.find((check) => check.name === name);
  assert.ok(found?.ok === true, name);
  return `${found.where}: ${found.answer}`;
}

/** Returns a field of an object. */
export const field = (stack: Stack, what: string, path: string): Promise<string> =>
  ask(stack, `get ${what} -o jsonpath='${path}'`);

/** Returns the cloud.conf of the cloud's controllers. */
export async function cloudConf(stack: Stack): Promise<string> {
  const data = await field(stack, "-n kube-system secret cloud-config", "{.data.cloud\\.conf}");
  return Buffer.from(data, "base64").toString("utf8");
}

export const linesOf = (text: string): string[] => text.split("\n").filter(Boolean);

const system = "-n kube-system";

/** Returns the point that kubeadm received the pods' range. */
export const podRange = (range: string): Point => ({
  text: `runs kubeadm init with the pod range ${range}`,
  see: async (stack) => {
    const data = await field(stack, `${system} configmap kubeadm-config`, "{.data}");
    const found = /podSubnet: ([0-9./]+)/.exec(data);
    assert.equal(found?.[1], range);
    return found[0];
  },
});

/** Returns the point that a DaemonSet is ready on this number of machines. */
export const onEveryMachine = (
  text: string,
  daemonSet: string,
  machines: number,
  namespace = "kube-system",
): Point => ({
  text,
  see: async (stack) => {
    const path = "{.status.numberReady} of {.status.desiredNumberScheduled}";
    const found = await field(stack, `-n ${namespace} daemonset ${daemonSet}`, path);
    assert.equal(found, `${String(machines)} of ${String(machines)}`);
    return `${daemonSet} ${found}`;
  },
});

const uninitialized = "node.cloudprovider.kubernetes.io/uninitialized";

/**
 * Requires that a DaemonSet tolerates nodes that the cloud controller has not initialized: such
 * nodes have no address yet.
 */
export async function bearsUninitialized(stack: Stack, daemonSet: string): Promise<void> {
  const tolerations = ".spec.template.spec.tolerations[*]";
  const path = `{range ${tolerations}}{.key}:{.operator}:{.value}:{.effect}{"\\n"}{end}`;
  const found = linesOf(await field(stack, `${system} daemonset ${daemonSet}`, path));
  const bears = [
    ":Exists::",
    `${uninitialized}:Exists::NoSchedule`,
    `${uninitialized}:Equal:true:NoSchedule`,
  ];
  assert.ok(
    found.some((line) => bears.includes(line)),
    `${daemonSet}\n${found.join("\n")}`,
  );
}

export const allReady: Point = {
  text: "has only Ready nodes with their servers' addresses, IDs and names",
  see: async (stack) => {
    const { verification } = await stack.cluster.service.status(stack.name);
    const servers = await listObjects(stack.cluster.cloud, "server");
    const nodes = verification?.nodes ?? [];
    assert.equal(nodes.length, stack.outputs.nodes.length);
    for (const { name, ready, providerId, internalAddress } of nodes) {
      const server = servers.find(({ id }) => providerId === `openstack:///${id}`);
      assert.equal(server?.name, name);
      assert.ok(ready && internalAddress !== "", name);
    }
    return `${String(nodes.length)} Ready`;
  },
};

export const systemRuns: Point = {
  text: "runs every pod of kube-system",
  see: async (stack) => {
    const seen = async (): Promise<string[]> =>
      linesOf(await ask(stack, `${system} get pods --no-headers`));
    // Pods that the run replaced may still be terminating.
    await until(async () => !(await seen()).some((line) => / Terminating /.test(line)));
    const pods = await seen();
    assert.deepEqual(
      pods.filter((line) => !/ Running /.test(line)),
      [],
    );
    return `${String(pods.length)} Running`;
  },
};

/** Host outside of the cluster, by its public DNS name. */
const outside = "registry.k8s.io:443";

export const podsConnect: Point = {
  text: "connects pods to pods on other machines, and to Services and outside hosts by name",
  see: async (stack) => {
    const crossing = await connectPods(stack.serverOf("control-plane-0"), [outside]);
    assert.ok(crossing > 0);
    return `${String(crossing)} connections to other machines`;
  },
};

export const policiesDeny: Point = {
  text: "enforces a NetworkPolicy, which blocks only the pods that it does not allow",
  see: async (stack) => {
    await provePolicy(stack.serverOf("control-plane-0"));
    return "one pod let in, another kept out";
  },
};
