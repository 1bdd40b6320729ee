import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { listObjects, takeInventory } from "../../../../openstack/inventory/inventory.js";
import { listAll } from "../../../../openstack/client/paginate.js";
import {
  createNeighborNetwork,
  routeTo,
  type NeighborNetwork,
} from "../../support/cloud/neighbor-network.js";
import { applied, kubectlOn } from "../../support/kubernetes/kubectl.js";
import { inCloud, inServer } from "../../support/machines/machines.js";
import { runWebPods } from "../../support/kubernetes/own-pods.js";
import { connectPods } from "../../support/kubernetes/pods.js";
import { answers } from "../../support/network/reach.js";
import { Stack } from "../../support/stack/stack.js";
import { nonEmpty } from "../../../support/non-empty.js";

const minutes = 60_000;
const ports = {
  key: "ports",
  schema: z.object({
    name: z.string(),
    port_security_enabled: z.boolean(),
    security_groups: z.array(z.string()),
  }),
};
const serverGroups = {
  key: "server_groups",
  schema: z.object({
    name: z.string(),
    policies: z.array(z.string()),
    members: z.array(z.string()),
  }),
};
const server = z.object({ server: z.looseObject({ hostId: z.string() }) });
const service = `
apiVersion: v1
kind: Service
metadata: {name: balanced, namespace: default}
spec: {type: LoadBalancer, selector: {k8s-app: kube-dns}, ports: [{port: 80, targetPort: 53}]}
`;

describe("machines without port security and Octavia, reached through an admin network, on the lab", function () {
  this.timeout(10 * minutes);
  const stack = new Stack("bare");
  let ops: NeighborNetwork;
  const undo: (() => Promise<void>)[] = [];
  const changed = (): Record<string, unknown> => ({
    network: {
      portSecurity: false,
      mtu: 1300,
      admin: { network: ops.name, allowedCidrs: ["172.29.0.0/16"] },
    },
    access: "admin",
    podNetwork: { kind: "flannel", backend: "host-gw" },
    loadBalancer: { enabled: false },
    samples: false,
    // Sets no zones, so that only the server group places the machines on separate hosts.
    zones: [],
    workers: {
      general: {
        flavor: "k8s-worker",
        count: 2,
        spread: "hard",
        schedulerHints: { build_near_host_ip: "192.0.2.7" },
      },
    },
  });
  const names = ["control-plane-0", "general-0", "general-1"];
  const on = (machine: string, line: string): Promise<string> =>
    inServer(stack.serverOf(machine), line);
  const ask = (line: string): Promise<string> =>
    kubectlOn(stack.serverOf("control-plane-0"), line).then((text) => text.trim());

  before(async () => {
    await stack.open();
    undo.push(() => stack.cluster.close());
    ops = await createNeighborNetwork(stack.cluster.cloud, "ops");
    undo.push(() => ops.remove(), await routeTo(ops));
    stack.initially = await takeInventory(stack.cluster.cloud);
  });
  after(async () => {
    for (const step of undo.reverse()) await step();
  });

  it("start and work, each reachable at its admin address", async () => {
    await stack.up(changed());
    await stack.prove(1);
    for (const { sshHost = "", adminAddress } of nonEmpty(stack.outputs.nodes)) {
      assert.match(sshHost, /^10\.77\.0\.\d+$/);
      assert.equal(sshHost, adminAddress);
      assert.equal(await answers(sshHost, 22), true);
    }
  });

  it("have no security group on the cluster's network, and the admin group on the admin network", async () => {
    const { cloud } = stack.cluster;
    const found = await listAll(cloud, "network", `/ports?project_id=${cloud.projectId}`, ports);
    const groups = (await listObjects(cloud, "security group")).filter(({ name }) =>
      name.startsWith("bare-"),
    );
    assert.deepEqual(
      groups.map(({ name }) => name),
      ["bare-admin"],
    );
    for (const machine of names) {
      const [inside, admin] = [`bare-${machine}`, `bare-${machine}-admin`].map((name) =>
        found.find((port) => port.name === name),
      );
      assert.deepEqual([inside?.port_security_enabled, inside?.security_groups], [false, []]);
      assert.deepEqual(
        [admin?.port_security_enabled, admin?.security_groups],
        [true, groups.map(({ id }) => id)],
      );
    }
  });

  it("route pod traffic without encapsulation, with the configured MTU", async () => {
    const lines = `{range .items[*]}{.metadata.name} {.spec.podCIDR}{"\\n"}{end}`;
    const ranges = new Map(
      (await ask(`get nodes -o jsonpath='${lines}'`))
        .split("\n")
        .map((line) => line.split(" ") as [string, string]),
    );
    const routes = await on("general-0", "ip -4 route");
    for (const { name, address } of stack.outputs.nodes)
      if (name !== "bare-general-0")
        assert.match(routes, new RegExp(`^${ranges.get(name) ?? "?"} via ${address} `, "m"));
    assert.doesNotMatch(await on("general-0", "ip -o link"), /flannel/);
    await runWebPods(stack.serverOf("control-plane-0"));
    assert.ok((await connectPods(stack.serverOf("control-plane-0"))) >= 2);
    const first = "$(ip -4 route show default | awk '{ print $5 }')";
    assert.match(await on("general-0", `ip -o link show ${first}`), / mtu 1300 /);
    const inPod = "nsenter -n -t $(pgrep -o agnhost) ip -o link show eth0";
    assert.match(await on("general-0", inPod), / mtu 1300 /);
  });

  it("run on different hosts by their server group alone, and Nova receives their scheduler hints", async () => {
    const { cloud } = stack.cluster;
    const groups = await listAll(cloud, "compute", "/os-server-groups", serverGroups);
    const group = groups.find(({ name }) => /^bare-[0-9a-f]{12}\.general$/.test(name));
    const ids = ["general-0", "general-1"].map((machine) => stack.serverOf(machine));
    assert.deepEqual(group?.policies, ["anti-affinity"]);
    assert.deepEqual([...group.members].sort(), [...ids].sort());
    const hosts = await Promise.all(
      ids.map(async (id) => server.parse(await cloud.request("compute", "GET", `/servers/${id}`))),
    );
    assert.equal(new Set(hosts.map((one) => one.server.hostId)).size, 2);
    for (const id of ids) {
      const asked = `select spec from request_specs where instance_uuid = '${id}'`;
      assert.match(await inCloud(`mysql -N nova_api -e "${asked}"`), /192\.0\.2\.7/);
    }
  });

  it("leave a Service of type LoadBalancer without an address and without a load balancer", async () => {
    await ask(applied(service));
    await pause(20_000);
    const path = "{.spec.type} {.status.loadBalancer.ingress[0].ip}";
    assert.equal(await ask(`get service balanced -o jsonpath='${path}'`), "LoadBalancer");
    assert.deepEqual(await listObjects(stack.cluster.cloud, "load balancer"), []);
  });

  it("have no changes on a second `up`", async () => {
    await stack.again(changed());
  });

  it("are destroyed without leftovers", async () => {
    await stack.destroyAndLookAround();
  });
});
