import assert from "node:assert/strict";
import { z } from "zod";
import { listAll } from "../../openstack/client/paginate.js";
import { listObjects } from "../../openstack/inventory/inventory.js";
import type { Example } from "./example.js";
import { declaredKeys, knownKeys, keysOf } from "../support/config/cloud-conf-keys.js";
import { until } from "../lab/support/cloud/foreign.js";
import { inServer } from "../lab/support/machines/machines.js";
import type { Stack } from "../lab/support/stack/stack.js";
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

const zones = ["zone-a", "zone-b", "zone-c"];
const zoneLabel = "{.metadata.labels.topology\\.kubernetes\\.io/zone}";
const regionLabel = "{.metadata.labels.topology\\.kubernetes\\.io/region}";

const serverSchema = z.looseObject({
  name: z.string(),
  "OS-EXT-AZ:availability_zone": z.string(),
});
const portSchema = z.looseObject({
  name: z.string(),
  allowed_address_pairs: z.array(z.looseObject({ ip_address: z.string() })),
});
const routerSchema = z.object({
  router: z.looseObject({
    routes: z.array(z.object({ destination: z.string(), nexthop: z.string() })),
  }),
});
const named = z.looseObject({ id: z.string(), name: z.string() });
const floatingIpSchema = z.looseObject({
  floating_ip_address: z.string(),
  floating_network_id: z.string(),
});
const volumeSchema = z.looseObject({ id: z.string(), availability_zone: z.string() });

/** Returns one line per node: its name, and the values at these paths. */
const perNode = async (stack: Stack, ...paths: string[]): Promise<string[]> => {
  const fields = ["{.metadata.name}", ...paths].join('{" "}');
  return linesOf(await field(stack, "nodes", `{range .items[*]}${fields}{"\\n"}{end}`)).sort();
};

/** Returns the routes that the nodes' pod ranges need: `range via address`. */
async function wantedRoutes(stack: Stack): Promise<string[]> {
  const address = '{.status.addresses[?(@.type=="InternalIP")].address}';
  const lines = await perNode(stack, "{.spec.podCIDR}", address);
  return lines.map((line) => line.split(" ").slice(1).join(" via ")).sort();
}

async function routes({ cluster: { cloud }, name }: Stack): Promise<string[]> {
  // Services have a separate router, which has no route to pods.
  const router = (await listObjects(cloud, "router")).find((one) => one.name === name);
  const answer = await cloud.request("network", "GET", `/routers/${router?.id ?? ""}`);
  return routerSchema
    .parse(answer)
    .router.routes.map(({ destination, nexthop }) => `${destination} via ${nexthop}`)
    .sort();
}

/** Returns the allowed address pairs of the machines' ports: `name range`. */
async function allowed({ cluster: { cloud }, outputs }: Stack): Promise<string[]> {
  const ports = await listAll(cloud, "network", "/ports", { key: "ports", schema: portSchema });
  return ports
    .filter((port) => outputs.nodes.some(({ name }) => name === port.name))
    .flatMap(({ name, allowed_address_pairs: pairs }) =>
      pairs.map((pair) => `${name} ${pair.ip_address}`),
    )
    .sort();
}

/** Returns the names of the networks of load balancers and floating IPs. */
async function places({ cluster: { cloud } }: Stack) {
  const all = await listAll(cloud, "network", "/networks", { key: "networks", schema: named });
  const nameOf = (id: string): string => all.find((one) => one.id === id)?.name ?? id;
  const floating = await listAll(cloud, "network", "/floatingips", {
    key: "floatingips",
    schema: floatingIpSchema,
  });
  const balancers = await listObjects(cloud, "load balancer");
  return {
    poolOf: (address: string | undefined): string => {
      const found = floating.find((one) => one.floating_ip_address === address);
      return nameOf(found?.floating_network_id ?? "");
    },
    networksOfBalancers: Object.fromEntries(
      balancers.map(({ name, network }) => [name.replace(/^.*_/, ""), nameOf(network)]),
    ),
  };
}

/** Requires one route and one address pair per node, and no others. */
async function proveRoutes(stack: Stack): Promise<number> {
  const wanted = await wantedRoutes(stack);
  assert.equal(wanted.length, stack.outputs.nodes.length);
  assert.deepEqual(await routes(stack), wanted);
  assert.deepEqual(await allowed(stack), await perNode(stack, "{.spec.podCIDR}"));
  return wanted.length;
}

/**
 * Example with all connections to the cloud's provider: instances, zones, load balancers, routes,
 * volumes.
 */
export const zonesAndRoutes: Example = {
  name: "zones-and-routes",
  sources: [
    "components/pod-network/cloud-routes",
    "components/network/network.ts",
    "examples/zones-and-routes",
  ],
  points: [
    podRange("10.244.0.0/16"),
    allReady,
    {
      text: "spreads control planes and workers over three zones, with region and zone labels",
      see: async (stack) => {
        const path = "/servers/detail";
        const servers = await listAll(stack.cluster.cloud, "compute", path, {
          key: "servers",
          schema: serverSchema,
        });
        const placed = servers
          .filter(({ name }) => stack.outputs.nodes.some((node) => node.name === name))
          .map((server) => `${server.name} lab ${server["OS-EXT-AZ:availability_zone"]}`)
          .sort();
        assert.deepEqual(await perNode(stack, regionLabel, zoneLabel), placed);
        for (const group of ["control-plane", "general"]) {
          const lines = placed.filter((line) => line.startsWith(`${stack.name}-${group}-`));
          const used = lines.map((line) => line.split(" ").at(-1));
          assert.deepEqual(used.sort(), zones, group);
        }
        return `${String(placed.length)} machines in ${String(zones.length)} zones`;
      },
    },
    {
      text: "has exactly one router route and one allowed address pair for each node's pod range",
      see: async (stack) => `${String(await proveRoutes(stack))} routes`,
    },
    {
      text: "reports RouteCreated on every node",
      see: async (stack) => {
        const reason = '{.status.conditions[?(@.type=="NetworkUnavailable")].reason}';
        const lines = await perNode(stack, reason);
        assert.ok(lines.length > 0 && lines.every((line) => line.endsWith(" RouteCreated")));
        return `${String(lines.length)} RouteCreated`;
      },
    },
    onEveryMachine("runs kube-router on every machine", "kube-router", 6),
    {
      text: "sends pod traffic to other machines only through the router, without an overlay",
      see: async (stack) => {
        for (const { serverId, name } of stack.outputs.nodes) {
          const known = linesOf(await inServer(serverId, "ip route show | grep '^10.244' || true"));
          assert.ok(
            known.every((line) => line.includes(" dev kube-bridge ")),
            `${name}\n${known.join("\n")}`,
          );
          const links = await inServer(serverId, "ip -d link show");
          assert.doesNotMatch(links, /\b(vxlan|geneve) id /, name);
        }
        return `${String(stack.outputs.nodes.length)} machines`;
      },
    },
    podsConnect,
    policiesDeny,
    systemRuns,
    {
      text: "has load balancers for the API and for Services, internal only by an annotation",
      see: async (stack) => {
        const balancers = await listObjects(stack.cluster.cloud, "load balancer");
        const ofServices = balancers.filter(({ name }) => name.startsWith("kube_service_"));
        assert.deepEqual([balancers.length, ofServices.length], [3, 2]);
        const conf = await cloudConf(stack);
        assert.doesNotMatch(conf, /^internal-lb/m);
        assert.match(conf, /^\[Route\]\nrouter-id = /m);
        const { verification } = await stack.cluster.service.status(stack.name);
        const services = verification?.services ?? [];
        assert.ok(services.length === 2 && services.every(({ ok }) => ok));
        return "2 answer HTTP";
      },
    },
    {
      text: "uses a separate network and floating IP pool for external Services",
      see: async (stack) => {
        const { samples, apiEndpoint } = stack.outputs;
        const { poolOf, networksOfBalancers } = await places(stack);
        const pools = [poolOf(new URL(apiEndpoint).hostname), poolOf(samples?.external)];
        assert.deepEqual(pools, ["public", "services"]);
        assert.deepEqual(networksOfBalancers, {
          [`${stack.name}-api`]: stack.name,
          "web-external": `${stack.name}-services`,
          "web-internal": stack.name,
        });
        return await answerOf(stack, "external service");
      },
    },
    {
      text: "supports or refuses every cloud.conf key of this controller release",
      see: async (stack) => {
        const daemonSet = "-n kube-system daemonset openstack-cloud-controller-manager";
        const image = await field(stack, daemonSet, "{.spec.template.spec.containers[0].image}");
        assert.ok(image.includes(`:v${keysOf}.`), image);
        assert.deepEqual(knownKeys().sort(), declaredKeys().sort());
        return `${String(declaredKeys().length)} keys of ${keysOf}`;
      },
    },
    {
      text: "runs no Keystone webhook, because the settings do not enable one",
      see: async (stack) => {
        const server = stack.serverOf("control-plane-0");
        const pod = await inServer(server, "cat /etc/kubernetes/manifests/kube-apiserver.yaml");
        assert.match(pod, /--client-ca-file=/);
        assert.doesNotMatch(pod, /webhook-config/);
        const pods = await ask(stack, "get pods -A -o name");
        assert.ok(pods.includes("kube-apiserver") && !/keystone/.test(pods), pods);
        return "no webhook, no pod of one";
      },
    },
    {
      text: "creates a volume in the zone of its pod",
      see: async (stack) => {
        const namespace = "-n stackadm-samples";
        const claimed = await field(stack, `${namespace} pvc data`, "{.spec.volumeName}");
        const handle = await field(stack, `pv ${claimed}`, "{.spec.csi.volumeHandle}");
        const node = await field(stack, `${namespace} pod writer-0`, "{.spec.nodeName}");
        const zone = await field(stack, `node ${node}`, zoneLabel);
        const volumes = await listAll(stack.cluster.cloud, "volumev3", "/volumes/detail", {
          key: "volumes",
          schema: volumeSchema,
        });
        assert.equal(volumes.find(({ id }) => id === handle)?.availability_zone, zone);
        return `both in ${zone}`;
      },
    },
    {
      text: "keeps routes and allowed addresses on `up` with a refresh",
      see: async (stack) => {
        const before = [await routes(stack), await allowed(stack)];
        await stack.up({}, true);
        assert.deepEqual([await routes(stack), await allowed(stack)], before);
        return `${String(await proveRoutes(stack))} still there`;
      },
    },
    {
      text: "adds a route for a new worker, and deletes the route of a removed worker",
      see: async (stack) => {
        await stack.up({ workers: { general: { flavor: "k8s-worker", count: 4 } } });
        const settled = async (): Promise<boolean> =>
          (await routes(stack)).join() === (await wantedRoutes(stack)).join();
        await until(settled);
        const more = await proveRoutes(stack);
        await stack.up();
        // The cloud controller deletes the node after it has noticed that the server is gone.
        await until(async () => linesOf(await ask(stack, "get nodes -o name")).length === 6);
        await until(settled);
        return `${String(more)}, then ${String(await proveRoutes(stack))}`;
      },
    },
  ],
};
