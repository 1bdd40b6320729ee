import assert from "node:assert/strict";
import { listObjects } from "../../openstack/inventory/inventory.js";
import { serviceDryRun } from "./dry-run.js";
import type { Example } from "./example.js";
import { inServer } from "../lab/support/machines/machines.js";
import {
  allReady,
  answerOf,
  ask,
  cloudConf,
  field,
  linesOf,
  onEveryMachine,
  podRange,
  podsConnect,
  policiesDeny,
  systemRuns,
} from "./common.js";

const uninitialized = "node.cloudprovider.kubernetes.io/uninitialized";
const flags = "cat /var/lib/kubelet/kubeadm-flags.env";

/** Example with Canal, the cloud controller, and services for clients outside and inside. */
export const externalAndInternalLb: Example = {
  name: "external-and-internal-lb",
  sources: [
    "components/pod-network/canal",
    "components/addons",
    "examples/external-and-internal-lb",
  ],
  points: [
    podRange("10.244.0.0/16"),
    onEveryMachine("runs Canal on every machine", "canal", 3),
    {
      text: "stores the controllers' credential in the Secret cloud-config, without a password",
      see: async (stack) => {
        const conf = await cloudConf(stack);
        assert.match(conf, /^application-credential-id = /m);
        assert.doesNotMatch(conf, /^(user-name|username|password) = /m);
        return `${String(linesOf(conf).length)} lines`;
      },
    },
    {
      text: "registers nodes with the taint uninitialized, which the cloud controller removes",
      see: async (stack) => {
        for (const { name, serverId } of stack.outputs.nodes)
          assert.match(await inServer(serverId, flags), /--cloud-provider=external/, name);
        const taints = await field(stack, "nodes", "{.items[*].spec.taints[*].key}");
        assert.ok(!taints.includes(uninitialized), taints);
        const zones = await field(
          stack,
          "nodes",
          "{.items[*].metadata.labels.topology\\.kubernetes\\.io/region}",
        );
        const count = zones.split(" ").length;
        assert.equal(count, stack.outputs.nodes.length);
        return `${String(count)} of ${String(count)} initialized`;
      },
    },
    {
      text: "runs the cloud controller as a DaemonSet with its own account and permissions",
      see: async (stack) => {
        const account = "cloud-controller-manager";
        const can = await ask(
          stack,
          `auth can-i update services/status --as system:serviceaccount:kube-system:${account}`,
        );
        assert.equal(can, "yes");
        const ready = await field(
          stack,
          "-n kube-system daemonset openstack-cloud-controller-manager",
          "{.status.numberReady}",
        );
        assert.equal(ready, "1");
        return `${ready} ready; may update services`;
      },
    },
    {
      text: "answers HTTP at an external load balancer",
      see: (stack) => answerOf(stack, "external service"),
    },
    {
      text: "answers HTTP at an internal load balancer without a floating IP",
      see: async (stack) => {
        const answer = await answerOf(stack, "internal service");
        const { internal = "" } = stack.outputs.samples ?? {};
        const ports = await listObjects(stack.cluster.cloud, "port");
        const floating = await listObjects(stack.cluster.cloud, "floating IP");
        assert.ok(internal.startsWith("10.0.0.") && ports.length > 0);
        // One belongs to the control plane, one to the external service.
        assert.equal(floating.length, 2);
        return answer;
      },
    },
    {
      text: "accepts a configured address for a Service (dry run: here the cloud chooses the address)",
      see: async (stack) => {
        const address = "203.0.113.9";
        assert.equal(await serviceDryRun(stack, { address }), address);
        return address;
      },
    },
    {
      text: "binds, mounts and writes to a claim of 1 GiB in the class gold",
      see: async (stack) => {
        const path = "{.spec.storageClassName} {.spec.resources.requests.storage} {.status.phase}";
        const claim = await field(stack, "-n stackadm-samples pvc data", path);
        assert.equal(claim, "gold 1Gi Bound");
        return answerOf(stack, "claim");
      },
    },
    allReady,
    systemRuns,
    podsConnect,
    policiesDeny,
  ],
};
