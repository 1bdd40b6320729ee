import assert from "node:assert/strict";
import { z } from "zod";
import { findSshRoute } from "../../automation/verify/cluster-outputs.js";
import { sendHttpRequest } from "../../openstack/http/http-exchange.js";
import { takeInventory } from "../../openstack/inventory/inventory.js";
import { listAll } from "../../openstack/client/paginate.js";
import { probeLogin } from "../../base/ssh-client.js";
import type { Example } from "./example.js";
import { until } from "../lab/support/cloud/foreign.js";
import { inServer } from "../lab/support/machines/machines.js";
import { answers } from "../lab/support/network/reach.js";
import {
  allReady,
  answerOf,
  ask,
  field,
  linesOf,
  onEveryMachine,
  podRange,
  podsConnect,
  systemRuns,
} from "./common.js";

const serverSchema = z.looseObject({
  name: z.string(),
  flavor: z.looseObject({ original_name: z.string() }),
});
const placedSchema = z.looseObject({
  name: z.string(),
  "OS-EXT-AZ:availability_zone": z.string(),
});
const volumeSchema = z.looseObject({ name: z.string(), availability_zone: z.string() });
const workers = (count: number) => ({
  workers: {
    general: { flavor: "k8s-worker", count, runtimeVolume: { size: 50, zone: "{zone}" } },
  },
});

/** Example with the infrastructure of a production cluster: topology, sizes, bastion. */
export const productionHa: Example = {
  name: "production-ha",
  sources: [
    "components/access",
    "components/endpoint",
    "components/machine",
    "components/network",
    "examples/production-ha",
  ],
  points: [
    {
      text: "creates three control planes with API server and etcd, and two workers, from one setting",
      see: async (stack) => {
        await stack.prove(3);
        assert.equal(stack.outputs.nodes.length, 5);
        return "3 vote, 2 work";
      },
    },
    {
      text: "has a private network 10.0.0.0/16 with a router to the external network",
      see: async ({ cluster: { cloud }, name }) => {
        const of = (answer: unknown) =>
          Object.values(answer as Record<string, Record<string, unknown>[]>).flat();
        const [subnet] = of(await cloud.request("network", "GET", `/subnets?name=${name}`));
        const [router] = of(await cloud.request("network", "GET", `/routers?name=${name}`));
        assert.equal(subnet?.["cidr"], "10.0.0.0/16");
        assert.ok(router?.["external_gateway_info"]);
        return "10.0.0.0/16, gateway outside";
      },
    },
    {
      text: "uses separate flavors for control planes, workers and the bastion",
      see: async ({ cluster: { cloud }, name }) => {
        const wanted = { key: "servers", schema: serverSchema };
        const servers = await listAll(cloud, "compute", "/servers/detail", wanted);
        const made = servers
          .filter((server) => server.name.startsWith(`${name}-`))
          .map((server) => `${server.name.slice(name.length + 1)} ${server.flavor.original_name}`);
        assert.deepEqual(made.sort(), [
          "bastion-0 small",
          ...[0, 1, 2].map((position) => `control-plane-${String(position)} k8s-control-plane`),
          ...[0, 1].map((position) => `general-${String(position)} k8s-worker`),
        ]);
        return `${String(made.length)} machines of 3 flavors`;
      },
    },
    {
      text: "stores each machine's container data on a volume of 25 or 50 GB",
      see: async (stack) => {
        const volumes = (await takeInventory(stack.cluster.cloud))
          .filter(({ kind, name }) => kind === "volume" && name.endsWith("-runtime"))
          .map(({ gigabytes }) => gigabytes)
          .sort((one, other) => one - other);
        assert.deepEqual(volumes, [25, 25, 25, 50, 50]);
        for (const { serverId, name } of stack.outputs.nodes) {
          const mount = await inServer(serverId, "findmnt -n -o FSTYPE /var/lib/containerd");
          assert.equal(mount.trim(), "ext4", name);
        }
        return `${volumes.join(", ")} GB mounted`;
      },
    },
    {
      text: "creates each container volume in the zone of its machine",
      see: async ({ cluster: { cloud }, outputs: { nodes } }) => {
        const servers = await listAll(cloud, "compute", "/servers/detail", {
          key: "servers",
          schema: placedSchema,
        });
        const volumes = await listAll(cloud, "volumev3", "/volumes/detail", {
          key: "volumes",
          schema: volumeSchema,
        });
        const zones = nodes.map(({ name }) => {
          const server = servers.find((one) => one.name === name) ?? assert.fail(name);
          const zone = server["OS-EXT-AZ:availability_zone"];
          const volume = volumes.find((one) => one.name === `${name}-runtime`);
          assert.equal(volume?.availability_zone, zone, name);
          return zone;
        });
        assert.deepEqual([...new Set(zones)].sort(), ["zone-a", "zone-b"]);
        return zones.join(", ");
      },
    },
    {
      text: "accepts SSH from outside only at the bastion",
      see: async ({ outputs: { apiEndpoint, bastion, nodes } }) => {
        const api = new URL(apiEndpoint).hostname;
        assert.equal(await answers(api, 22), false);
        assert.equal(await answers(bastion?.[0]?.sshHost ?? "", 22), true);
        assert.ok(nodes.every(({ sshHost }) => sshHost === undefined));
        return `${bastion?.[0]?.sshHost ?? ""} answers, ${api} does not`;
      },
    },
    {
      text: "reaches every other machine through the bastion, with a verified host key",
      see: async ({ outputs, cluster }) => {
        const login = { user: "debian", agentSocket: cluster.environment.agent?.socket ?? "" };
        const ways = outputs.nodes.map(
          (node) => findSshRoute(node, outputs, login) ?? assert.fail(),
        );
        assert.ok(ways.every(({ proxy }) => proxy?.host === outputs.bastion?.[0]?.sshHost));
        const seen = await Promise.all(ways.map((way) => probeLogin(way)));
        assert.deepEqual([...new Set(seen)], ["itself"]);
        return `${String(seen.length)} machines`;
      },
    },
    podRange("10.244.0.0/16"),
    onEveryMachine("runs flannel on every machine", "kube-flannel", 5, "kube-flannel"),
    {
      text: "answers for the sample web server's host name at the ingress controller, and for no other name",
      see: async (stack) => {
        const seen = await answerOf(stack, "ingress");
        const address = stack.outputs.ingress?.address ?? "";
        const headers = { host: "unknown.example" };
        const { status } = await sendHttpRequest(`http://${address}/`, {
          headers,
          timeout: 10_000,
        });
        assert.equal(status, 404);
        return seen;
      },
    },
    {
      text: "runs two ingress pods on different machines of the chosen pool",
      see: async (stack) => {
        const names = await field(stack, "-n traefik pods", "{.items[*].spec.nodeName}");
        const found = names.split(" ");
        const pool = linesOf(await ask(stack, "get nodes -l stackadm.io/pool=general -o name"));
        assert.equal(new Set(found).size, 2);
        for (const node of found) assert.ok(pool.includes(`node/${node}`), node);
        return found.sort().join(", ");
      },
    },
    {
      text: "forwards ports 80 and 443 to the ingress with a load balancer of the program",
      see: async (stack) => {
        const { cloud } = stack.cluster;
        const answer = await cloud.request("load-balancer", "GET", "/lbaas/listeners");
        const { listeners } = answer as { listeners: { name: string; protocol_port: number }[] };
        const own = listeners.filter(({ name }) => name.startsWith(`${stack.name}-ingress-`));
        const ports = own.map((one) => one.protocol_port).sort((one, other) => one - other);
        assert.deepEqual(ports, [80, 443]);
        const address = stack.outputs.ingress?.address ?? "";
        for (const port of ports) assert.equal(await answers(address, port), true, String(port));
        return `${address}: ${ports.join(", ")}`;
      },
    },
    allReady,
    systemRuns,
    podsConnect,
    {
      text: "scales workers up and down",
      see: async (stack) => {
        const count = async (): Promise<number> =>
          linesOf(await ask(stack, "get nodes -o name")).length;
        await stack.up(workers(3));
        assert.equal(await count(), 6);
        await stack.up();
        // The cloud controller deletes the node after it has noticed that the server is gone.
        await until(async () => (await count()) === 5);
        return "2, 3, 2";
      },
    },
  ],
};
