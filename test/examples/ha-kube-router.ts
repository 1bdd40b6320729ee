import assert from "node:assert/strict";
import { z } from "zod";
import { listAll } from "../../cloud/listing.js";
import { etcdMembers } from "../lab/support/etcd.js";
import { podNetworkDryRun } from "./dry-run.js";
import type { Example } from "./example.js";
import { ProgramStack } from "./program-stack.js";
import { inServer, scriptRuns } from "../lab/support/machines.js";
import type { Stack } from "../lab/support/stack.js";
import {
  allReady,
  field,
  onEveryMachine,
  podsConnect,
  policiesDeny,
  systemRuns,
} from "./common.js";

const portSchema = z.object({
  name: z.string(),
  security_groups: z.array(z.string()),
  allowed_address_pairs: z.array(z.object({ ip_address: z.string() })),
});
const sharedFiles = "ca.crt ca.key sa.key sa.pub front-proxy-ca.crt";

/** Everything of a cluster that must not stand in the state in clear. */
async function secretsOf(stack: Stack): Promise<string[]> {
  const conf = await field(stack, "-n kube-system secret cloud-config", "{.data.cloud\\.conf}");
  const [, credential = ""] =
    /application-credential-secret = "(.*)"/.exec(Buffer.from(conf, "base64").toString("utf8")) ??
    [];
  const [, clientKey = ""] = /client-key-data: (\S+)/.exec(stack.outputs.kubeconfig) ?? [];
  assert.ok(credential.length > 8 && clientKey.length > 100);
  return [credential, clientKey];
}

/** Several control planes with etcd apart, kube-router without encapsulation, and no secret anywhere. */
export const haKubeRouter: Example = {
  name: "ha-kube-router",
  make: (name) => new ProgramStack(name),
  sources: ["components/etcd", "components/pod-network/kube-router", "examples/ha-kube-router"],
  points: [
    {
      text: "a load balancer for the API inside the cluster's network, and nothing else on the way",
      see: async (stack) => {
        const worker = stack.serverOf("general-0");
        const hosts = await inServer(worker, "grep api.ha-kube-router.internal /etc/hosts");
        const [address = ""] = hosts.split(/\s/);
        assert.match(address, /^10\.0\.0\./);
        assert.ok(!stack.outputs.nodes.some((node) => node.address === address), hosts);
        return `${address} for all workers`;
      },
    },
    {
      text: "certificates are made once and are the same on every control plane",
      see: async (stack) => {
        const sums = await Promise.all(
          stack.controlPlanes.map(({ serverId }) =>
            inServer(serverId, `cd /etc/kubernetes/pki && sha256sum ${sharedFiles}`),
          ),
        );
        assert.equal(sums.length, 3);
        assert.equal(new Set(sums).size, 1);
        return "5 files on 3 machines";
      },
    },
    {
      text: "etcd is a cluster of its own, and no control plane runs a part of it",
      see: async (stack) => {
        const machines = stack.outputs.etcd ?? [];
        for (const { serverId } of machines) {
          const members = await etcdMembers(serverId);
          assert.equal(members.length, 3);
          assert.ok(members.every(({ started, learner }) => started && !learner));
        }
        for (const { serverId } of stack.controlPlanes)
          assert.doesNotMatch(await inServer(serverId, "ls /etc/kubernetes/manifests"), /etcd/);
        assert.equal(machines.length, 3);
        return "3 members vote";
      },
    },
    {
      text: "ports of nodes with the pods' and the services' range allowed, and security groups on the port",
      see: async ({ cluster: { cloud }, outputs }) => {
        const ports = await listAll(cloud, "network", "/ports", {
          key: "ports",
          schema: portSchema,
        });
        for (const { name } of outputs.nodes) {
          const port = ports.find((one) => one.name === name);
          const ranges = port?.allowed_address_pairs.map((pair) => pair.ip_address).sort();
          assert.deepEqual(ranges, ["10.244.0.0/16", "10.96.0.0/12"], name);
          assert.equal(port?.security_groups.length, 2, name);
        }
        return `${String(outputs.nodes.length)} ports`;
      },
    },
    {
      text: "a program of 30 lines on the packed library makes all of it, and a namespace of its own beside it",
      see: async (stack) => {
        assert.equal(await field(stack, "namespace team", "{.status.phase}"), "Active");
        return "plain pulumi up; the namespace team is active";
      },
    },
    onEveryMachine("kube-router on every machine", "kube-router", 5),
    {
      text: "pods' packets are routed to the other machines as they are",
      see: async (stack) => {
        const worker = stack.outputs.nodes.find(({ name }) => name.endsWith("general-0"));
        const routes = await inServer(worker?.serverId ?? "", "ip route show | grep '^10.244'");
        const others = stack.outputs.nodes.filter(({ name }) => name !== worker?.name);
        for (const { address, name } of others)
          assert.ok(routes.includes(`via ${address} dev `), `${name}\n${routes}`);
        assert.doesNotMatch(routes, /tun|vxlan|ipip/);
        return `${String(others.length)} routes`;
      },
    },
    {
      text: "no secret in the state in clear, and the controllers' credential is not the operator's",
      see: async (stack) => {
        const state = JSON.stringify(await stack.cluster.service.state(stack.name));
        for (const secret of await secretsOf(stack)) assert.ok(!state.includes(secret));
        assert.doesNotMatch(state, /BEGIN [A-Z ]*PRIVATE KEY/);
        return `${String(Math.round(state.length / 1024))} KiB looked through`;
      },
    },
    allReady,
    systemRuns,
    podsConnect,
    policiesDeny,
    {
      text: "the API server takes kube-router as the Services' proxy and with overlays, too (dry run: this kernel has no IPVS)",
      see: async (stack) => {
        const podNetwork = { kind: "kube-router", serviceProxy: true, overlay: "full" } as const;
        return `${String(await podNetworkDryRun(stack, podNetwork))} objects`;
      },
    },
    {
      text: "a node that is added later runs its own steps, and no other machine any",
      see: async (stack) => {
        const { outputs } = stack;
        const machines = [...outputs.nodes, ...(outputs.etcd ?? [])];
        const runs = (): Promise<number[]> =>
          Promise.all(machines.map(({ serverId }) => scriptRuns(serverId)));
        const before = await runs();
        await stack.up({ workers: 3 });
        assert.deepEqual(await runs(), before);
        assert.equal(stack.outputs.nodes.length, 6);
        await stack.up();
        return `${String(machines.length)} machines untouched`;
      },
    },
  ],
};
