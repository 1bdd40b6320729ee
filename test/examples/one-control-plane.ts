import assert from "node:assert/strict";
import { KubernetesApi, readKubeAccess } from "../../automation/verify/kubernetes-client.js";
import { silentProgress } from "../../base/progress.js";
import { labAdd } from "../../packages/lab/lab.js";
import { podNetworkDryRun } from "./dry-run.js";
import type { Example } from "./example.js";
import { inServer } from "../lab/support/machines/machines.js";
import { revealed } from "../lab/support/stack/secrets.js";
import { openings } from "../lab/support/cloud/security-groups.js";
import type { Stack } from "../lab/support/stack/stack.js";
import type { Fields } from "../support/graph/graph.js";
import { renderSentScript } from "../support/graph/sent.js";
import {
  allReady,
  ask,
  linesOf,
  onEveryMachine,
  podRange,
  podsConnect,
  policiesDeny,
  systemRuns,
} from "./common.js";

const caHash =
  "openssl x509 -pubkey -noout -in /etc/kubernetes/pki/ca.crt | openssl pkey -pubin -outform der | sha256sum";
const secretsOfPods = `-n kube-system get pods -o jsonpath='{range .items[*]}{.metadata.name}{" "}{.spec.volumes[*].secret.secretName}{"\\n"}{end}'`;

/** Returns the inputs of the workers' join scripts, with values and kubeadm's document. */
async function joinsOf(stack: Stack): Promise<string[]> {
  const resources = await stack.opened();
  return resources
    .filter(({ urn }) => /::[^:]*-workers-[^:]*-join$/.test(urn))
    .map(({ inputs = {} }) => renderSentScript(revealed(inputs) as Fields));
}

/** Example with one control plane and workers by kubeadm, Calico, and the cloud's controllers. */
export const oneControlPlane: Example = {
  name: "one-control-plane",
  sources: ["components/pod-network/calico", "components/kubeadm", "examples/one-control-plane"],
  points: [
    {
      text: "has a security group per role and one for all nodes, with only the required ports",
      see: async ({ cluster: { cloud }, name }) => {
        const [first, worker, node] = await Promise.all(
          ["control-plane", "worker", "node"].map((role) => openings(cloud, `${name}-${role}`)),
        );
        assert.deepEqual(first, [
          "tcp 22 from 172.29.0.0/16",
          "tcp 22 from control-plane",
          "tcp 22 from worker",
          "tcp 2379-2380 from control-plane",
          "tcp 6443 from 172.29.0.0/16",
          "tcp 6443 from node",
        ]);
        assert.deepEqual(worker, ["tcp 22 from control-plane"]);
        assert.deepEqual(node, [
          "icmp from node",
          "tcp 10256 from 10.0.0.0/24",
          "tcp 2381-65535 from node",
          "tcp 30000-32767 from 10.0.0.0/24",
          "tcp 53-2378 from node",
          "udp 30000-32767 from 10.0.0.0/24",
          "udp 4789 from node",
          "udp from node",
        ]);
        const counts = [first, worker, node].map((one) => String(one.length));
        return `openings: ${counts.join(", ")}`;
      },
    },
    podRange("192.168.0.0/16"),
    {
      text: "provides a kubeconfig that reaches the API from outside",
      see: async ({ outputs: { kubeconfig, apiEndpoint } }) => {
        const api = new KubernetesApi(readKubeAccess(kubeconfig));
        assert.equal(await api.text("/readyz"), "ok");
        return `${apiEndpoint} is ok`;
      },
    },
    onEveryMachine("runs Calico on every machine", "calico-node", 4),
    {
      text: "joins workers with the hash of the cluster's CA, and leaves no bootstrap token",
      see: async (stack) => {
        const hashes = await Promise.all(
          stack.outputs.nodes.map(({ serverId }) => inServer(serverId, caHash)),
        );
        assert.equal(new Set(hashes).size, 1);
        // kubeadm refuses a document without the hash, unless the document allows it.
        const [hash = ""] = hashes[0]?.split(" ") ?? [];
        const joins = await joinsOf(stack);
        assert.equal(joins.length, 3);
        for (const text of joins) {
          assert.ok(text.includes(`CA_CERT_HASH='sha256:${hash}'\n`));
          assert.match(text, /caCertHashes:\s+- "@CA_CERT_HASH@"\n/);
          assert.doesNotMatch(text, /unsafeSkipCAVerification/);
        }
        const tokens = "KUBECONFIG=/etc/kubernetes/admin.conf kubeadm token list -o json";
        assert.equal((await inServer(stack.serverOf("control-plane-0"), tokens)).trim(), "");
        return `sha256:${hash.slice(0, 8)}... told ${String(joins.length)} workers`;
      },
    },
    {
      text: "provides cloud-config to the cloud controller and to the CSI controller",
      see: async (stack) => {
        const pods = linesOf(await ask(stack, secretsOfPods));
        const readers = pods.filter((line) => line.includes("cloud-config"));
        for (const name of ["openstack-cloud-controller-manager", "csi-cinder-controllerplugin"])
          assert.ok(
            readers.some((line) => line.startsWith(name)),
            name,
          );
        return `${String(readers.length)} pods read it`;
      },
    },
    allReady,
    systemRuns,
    podsConnect,
    policiesDeny,
    {
      text: "accepts Calico with IPIP and without encapsulation (dry run: this kernel has no IPIP)",
      see: async (stack) => {
        const { calico: manifest } = await labAdd("calico", { progress: silentProgress });
        const take = (encapsulation: "ipip" | "none"): Promise<number> =>
          podNetworkDryRun(stack, { kind: "calico", encapsulation, manifest });
        return `${String(await take("ipip"))} and ${String(await take("none"))} objects`;
      },
    },
  ],
};
