import assert from "node:assert/strict";
import { z } from "zod";
import { KubernetesApi, readKubeAccess } from "../../automation/verify/kubernetes-client.js";
import { listObjects } from "../../openstack/inventory/inventory.js";
import { listAll } from "../../openstack/client/paginate.js";
import { etcdMembers } from "../lab/support/kubernetes/etcd.js";
import { podNetworkDryRun } from "./dry-run.js";
import type { Example } from "./example.js";
import { ProgramStack } from "./program-stack.js";
import { inServer, scriptRuns } from "../lab/support/machines/machines.js";
import { operatorPassword, revealed } from "../lab/support/stack/secrets.js";
import type { Stack } from "../lab/support/stack/stack.js";
import {
  allReady,
  bearsUninitialized,
  cloudConf,
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
const credentialSchema = z.object({
  application_credential: z.object({
    unrestricted: z.boolean(),
    roles: z.array(z.object({ name: z.string() })),
  }),
});
interface Hop extends Readonly<Record<string, unknown>> {
  readonly proxy?: Hop;
}
const sharedFiles = "ca.crt ca.key sa.key sa.pub front-proxy-ca.crt";

/**
 * Returns the cluster's secrets, which must be neither in clear text in the state nor in any
 * output.
 */
async function secretsOf(stack: Stack): Promise<string[]> {
  const [, credential = ""] =
    /application-credential-secret = "(.*)"/.exec(await cloudConf(stack)) ?? [];
  const [, clientKey = ""] = /client-key-data: (\S+)/.exec(stack.outputs.kubeconfig) ?? [];
  const password = operatorPassword();
  assert.ok(credential.length > 8 && clientKey.length > 100 && password !== "");
  return [credential, clientKey, password];
}

/** Returns the SSH connections of the program's scripts. */
async function connectionsOf(stack: Stack): Promise<Hop[]> {
  const resources = await stack.opened();
  return resources
    .filter(({ type }) => type === "command:remote:Command")
    .map(({ inputs }) => revealed(inputs?.["connection"]) as Hop);
}

/**
 * Example with several control planes, separate etcd, kube-router without encapsulation, and no
 * visible secrets.
 */
export const haKubeRouter: Example = {
  name: "ha-kube-router",
  make: (name) => new ProgramStack(name),
  sources: ["components/etcd", "components/pod-network/kube-router", "examples/ha-kube-router"],
  points: [
    {
      text: "writes no file to a machine before cloud-init has finished there",
      see: async (stack) => {
        const machines = [...stack.outputs.nodes, ...(stack.outputs.etcd ?? [])];
        // The program's first file must be newer than the last file of cloud-init. Otherwise the
        // scripts of both changed the machine at the same time.
        const order =
          "test /etc/modules-load.d/stackadm.conf -nt /var/lib/cloud/instance/boot-finished";
        for (const { serverId, name } of machines) {
          const seen = await inServer(serverId, `cloud-init status; ${order} && echo later || :`);
          assert.match(seen, /status: done[\s\S]*later/, name);
        }
        return `${String(machines.length)} machines`;
      },
    },
    {
      text: "connects workers to the API only through a load balancer in the cluster's network",
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
      text: "has a public API address, which every API server certificate contains",
      see: async (stack) => {
        const { apiEndpoint, kubeconfig } = stack.outputs;
        const { hostname } = new URL(apiEndpoint);
        const floating = await listObjects(stack.cluster.cloud, "floating IP");
        assert.ok(
          floating.some(({ name }) => name === hostname),
          hostname,
        );
        for (const { serverId, name } of stack.controlPlanes) {
          const line =
            "openssl x509 -noout -ext subjectAltName -in /etc/kubernetes/pki/apiserver.crt";
          const names = (await inServer(serverId, line)).split(/,|\n/).map((one) => one.trim());
          assert.ok(names.includes(`IP Address:${hostname}`), `${name}\n${names.join("\n")}`);
        }
        assert.equal(await new KubernetesApi(readKubeAccess(kubeconfig)).text("/readyz"), "ok");
        return `${hostname} in ${String(stack.controlPlanes.length)} certificates`;
      },
    },
    {
      text: "has the same CA files and service account keys on every control plane",
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
      text: "runs etcd on separate machines, and no etcd on control planes",
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
      text: "allows the pod and Service ranges on the nodes' ports, which have security groups",
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
      text: "creates the cluster and an additional namespace from a short program with the packed library",
      see: async (stack) => {
        assert.equal(await field(stack, "namespace team", "{.status.phase}"), "Active");
        return "plain pulumi up; the namespace team is active";
      },
    },
    onEveryMachine("runs kube-router on every machine", "kube-router", 5),
    {
      text: "runs kube-router and the cloud controller on uninitialized nodes, the latter without a pod network",
      see: async (stack) => {
        const controller = "openstack-cloud-controller-manager";
        for (const daemonSet of ["kube-router", controller])
          await bearsUninitialized(stack, daemonSet);
        const path = "{.spec.template.spec.hostNetwork} {.spec.template.spec.dnsPolicy}";
        const place = await field(stack, `-n kube-system daemonset ${controller}`, path);
        assert.equal(place, "true Default");
        return "both tolerate uninitialized; the controller is on the machines' network";
      },
    },
    {
      text: "routes pod traffic to the other machines without encapsulation",
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
      text: "shows no secret in clear text in the state or in the output",
      see: async (stack) => {
        assert.ok(stack instanceof ProgramStack && stack.screen.includes("kubeconfig"));
        const state = JSON.stringify(await stack.cluster.service.state(stack.name));
        for (const text of [state, stack.screen]) {
          for (const secret of await secretsOf(stack)) assert.ok(!text.includes(secret));
          assert.doesNotMatch(text, /BEGIN [A-Z ]*PRIVATE KEY/);
        }
        return `${String(Math.round((state.length + stack.screen.length) / 1024))} KiB looked through`;
      },
    },
    {
      text: "logs in with the SSH agent, without a key or a password in any connection",
      see: async (stack) => {
        const connections = await connectionsOf(stack);
        assert.ok(connections.length > 10);
        for (const hop of connections.flatMap((one) => [one, ...(one.proxy ? [one.proxy] : [])])) {
          assert.ok("hostKey" in hop);
          assert.ok(!("privateKey" in hop) && !("password" in hop));
        }
        return `${String(connections.length)} connections`;
      },
    },
    {
      text: "gives the controllers a separate restricted credential, not the operator's credential",
      see: async (stack) => {
        const conf = await cloudConf(stack);
        assert.ok(!conf.includes(operatorPassword()));
        assert.doesNotMatch(conf, /^(user-id|username|password) = /m);
        const [, id = ""] = /^application-credential-id = "(.*)"$/m.exec(conf) ?? [];
        const { cloud } = stack.cluster;
        const path = `/users/${cloud.userId}/application_credentials/${id}`;
        const { application_credential: found } = credentialSchema.parse(
          await cloud.request("identity", "GET", path),
        );
        const roles = found.roles.map(({ name }) => name).sort();
        assert.equal(found.unrestricted, false);
        assert.ok(roles.includes("member") && !roles.includes("admin"), roles.join());
        return `restricted, with ${roles.join(", ")}`;
      },
    },
    allReady,
    systemRuns,
    podsConnect,
    policiesDeny,
    {
      text: "accepts kube-router as service proxy and with overlays (dry run: this kernel has no IPVS)",
      see: async (stack) => {
        const podNetwork = { kind: "kube-router", serviceProxy: true, overlay: "full" } as const;
        return `${String(await podNetworkDryRun(stack, podNetwork))} objects`;
      },
    },
    {
      text: "runs scripts only on the new machine when a worker is added",
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
