import assert from "node:assert/strict";
import { KubernetesApi, readKubeAccess } from "../../../automation/verify/kubernetes-api.js";
import { listObjects } from "../../../cloud/inventory.js";
import type { Example } from "../support/examples.js";
import { kubectlOn } from "../support/kubectl.js";
import { inServer } from "../support/machines.js";
import { connectPods } from "../support/pods.js";
import { openings } from "../support/security-groups.js";
import type { Stack } from "../support/stack.js";

const controlPlane = (stack: Stack): string => stack.serverOf("control-plane-0");
const lines = (text: string): string[] => text.trim().split("\n").filter(Boolean);
const caHash = "openssl x509 -in /etc/kubernetes/pki/ca.crt -outform der | sha256sum";

/** One control plane and workers made with kubeadm, Calico, and the cloud's controllers. */
export const oneControlPlane: Example = {
  name: "one-control-plane",
  sources: ["components/pod-network/calico", "components/kubeadm", "examples/one-control-plane"],
  points: [
    {
      text: "a security group per role, with exactly the ports that the role needs",
      see: async ({ cluster: { cloud }, name }) => {
        const [first, worker] = await Promise.all(
          ["control-plane", "worker"].map((role) => openings(cloud, `${name}-${role}`)),
        );
        assert.deepEqual(first, [
          "tcp 22 from 172.29.0.0/16",
          "tcp 22 from control-plane",
          "tcp 22 from worker",
          "tcp 2379-2380 from control-plane",
          "tcp 6443 from node",
        ]);
        assert.deepEqual(worker, ["tcp 22 from control-plane"]);
        return `control plane ${String(first.length)} openings, worker ${String(worker.length)}`;
      },
    },
    {
      text: "kubeadm init with the pods' range",
      see: async (stack) => {
        const asked = "-n kube-system get configmap kubeadm-config -o jsonpath={.data}";
        const found = /podSubnet: ([0-9./]+)/.exec(await kubectlOn(controlPlane(stack), asked));
        assert.equal(found?.[1], "192.168.0.0/16");
        return found[0];
      },
    },
    {
      text: "a kubeconfig for the user that reaches the API from outside",
      see: async ({ outputs: { kubeconfig, apiEndpoint } }) => {
        const api = new KubernetesApi(readKubeAccess(kubeconfig));
        assert.equal(await api.text("/readyz"), "ok");
        return `${apiEndpoint} is ok`;
      },
    },
    {
      text: "Calico on every machine",
      see: async (stack) => {
        const asked =
          "-n kube-system get daemonset calico-node -o jsonpath='{.status.numberReady} of {.status.desiredNumberScheduled}'";
        const found = await kubectlOn(controlPlane(stack), asked);
        assert.equal(found.trim(), "4 of 4");
        return `calico-node ${found.trim()}`;
      },
    },
    {
      text: "workers joined the authority that they were told, and no token is left",
      see: async (stack) => {
        const hashes = await Promise.all(
          stack.outputs.nodes.map(({ serverId }) => inServer(serverId, caHash)),
        );
        assert.equal(new Set(hashes).size, 1);
        const tokens = await inServer(controlPlane(stack), "kubeadm token list -o json");
        assert.equal(tokens.trim(), "");
        return `sha256:${hashes[0]?.slice(0, 8) ?? ""}... on ${String(hashes.length)} machines`;
      },
    },
    {
      text: "the cloud's configuration is known to every component that needs it",
      see: async (stack) => {
        const asked =
          '-n kube-system get pods -o jsonpath=\'{range .items[*]}{.metadata.name}{" "}{.spec.volumes[*].secret.secretName}{"\\n"}{end}\'';
        const pods = lines(await kubectlOn(controlPlane(stack), asked));
        const readers = pods.filter((line) => line.includes("cloud-config"));
        for (const name of ["openstack-cloud-controller-manager", "csi-cinder-controllerplugin"])
          assert.ok(
            readers.some((line) => line.startsWith(name)),
            name,
          );
        return `${String(readers.length)} pods read it`;
      },
    },
    {
      text: "all nodes Ready with the cloud's addresses and IDs, named like their servers",
      see: async (stack) => {
        const { verification } = await stack.cluster.service.status(stack.name);
        const servers = await listObjects(stack.cluster.cloud, "server");
        const nodes = verification?.nodes ?? [];
        assert.equal(nodes.length, 4);
        for (const { name, ready, providerId, internalAddress } of nodes) {
          const server = servers.find(({ id }) => providerId === `openstack:///${id}`);
          assert.equal(server?.name, name);
          assert.ok(ready && internalAddress !== "", name);
        }
        return `${String(nodes.length)} Ready`;
      },
    },
    {
      text: "every pod of kube-system runs",
      see: async (stack) => {
        const asked = "-n kube-system get pods --no-headers";
        const pods = lines(await kubectlOn(controlPlane(stack), asked));
        assert.deepEqual(
          pods.filter((line) => !/ Running /.test(line)),
          [],
        );
        return `${String(pods.length)} Running`;
      },
    },
    {
      text: "pods reach pods on other machines, and services by name",
      see: async (stack) => {
        const crossing = await connectPods(controlPlane(stack));
        assert.ok(crossing > 0);
        return `${String(crossing)} connections to other machines`;
      },
    },
  ],
};
