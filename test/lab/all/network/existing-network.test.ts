import assert from "node:assert/strict";
import { z } from "zod";
import { compareInventories, takeInventory } from "../../../../openstack/inventory/inventory.js";
import { sendHttpRequest } from "../../../../openstack/http/http-exchange.js";
import { listAll } from "../../../../openstack/client/paginate.js";
import { readLabSettings } from "../../../../packages/lab/settings.js";
import { administrator } from "../../support/cloud/administrator.js";
import { startBalancer, type OwnBalancer } from "../../support/network/balancer.js";
import {
  createNeighborNetwork,
  routeTo,
  type NeighborNetwork,
} from "../../support/cloud/neighbor-network.js";
import { until } from "../../support/cloud/foreign.js";
import { kubectlOn } from "../../support/kubernetes/kubectl.js";
import { inServer } from "../../support/machines/machines.js";
import { connectPods } from "../../support/kubernetes/pods.js";
import { answers } from "../../support/network/reach.js";
import { Stack } from "../../support/stack/stack.js";

const minutes = 60_000;
const port = z.object({ fixed_ips: z.array(z.object({ ip_address: z.string() })) });

describe("a cluster in another project's network, without router and floating IPs, on the lab", function () {
  this.timeout(10 * minutes);
  const stack = new Stack("provided");
  const { external, management } = readLabSettings();
  let office: NeighborNetwork;
  let balancer: OwnBalancer;
  const undo: (() => Promise<void>)[] = [];
  const changed = ([endpoint, nodePorts]: readonly [object, readonly string[]]): Record<
    string,
    unknown
  > => ({
    externalNetwork: undefined,
    network: { nodes: office.range, existing: { network: office.name }, nodePorts },
    endpoint,
    access: "direct",
    podNetwork: "flannel",
  });
  const balanced = [{ kind: "existing", host: external.host }, [management.cidr]] as const;
  const alone = [{ kind: "private" }, [`${external.host}/32`]] as const;
  /** Returns the control plane's address as soon as Neutron has chosen it. */
  const firstAddress = async (): Promise<string | undefined> => {
    const path = `/ports?name=${stack.name}-control-plane-0`;
    const [found] = await listAll(stack.cluster.cloud, "network", path, {
      key: "ports",
      schema: port,
    });
    return found?.fixed_ips[0]?.ip_address;
  };
  const ask = (line: string): Promise<string> =>
    kubectlOn(stack.serverOf("control-plane-0"), line).then((text) => text.trim());
  const addressOf = (machine: string): string =>
    stack.outputs.nodes.find(({ name }) => name === `${stack.name}-${machine}`)?.address ?? "";
  /** Returns the address to which a worker resolves the name of the API (in /etc/hosts). */
  const apiOn = async (machine: string): Promise<string> =>
    (
      await inServer(stack.serverOf(machine), "awk '/ api[.]provided[.]/ { print $1 }' /etc/hosts")
    ).trim();

  before(async () => {
    const cloud = await administrator();
    office = await createNeighborNetwork(cloud, "provider", {
      range: "10.79.0.0/24",
      shared: true,
    });
    undo.push(() => office.remove(), await routeTo(office));
    await stack.open();
    undo.push(() => stack.cluster.close());
    balancer = await startBalancer(external.host, 6443, firstAddress);
    undo.push(() => balancer.close());
  });
  after(async () => {
    for (const step of undo.reverse()) await step();
  });

  it("starts behind an existing load balancer, through which workers join", async () => {
    await stack.up(changed(balanced));
    await stack.prove(1);
    assert.equal(new URL(stack.outputs.apiEndpoint).hostname, external.host);
    assert.equal(await apiOn("general-0"), external.host);
    // The source address of traffic that leaves the machines' network is the address of the
    // network's router.
    for (const client of [external.host, office.gateway])
      assert.ok(balancer.clients.has(client), [...balancer.clients].join());
  });

  it("creates no network, router or floating IP, and is reachable at its machines' addresses", async () => {
    const { added } = compareInventories(stack.initially, await takeInventory(stack.cluster.cloud));
    const kinds = new Set(added.map(({ kind }) => kind));
    for (const kind of ["network", "subnet", "router", "floating IP"] as const)
      assert.ok(!kinds.has(kind), kind);
    assert.ok(kinds.has("server") && kinds.has("load balancer"), [...kinds].join());
    for (const { address, sshHost } of stack.outputs.nodes) {
      assert.match(address, /^10\.79\.0\.\d+$/);
      assert.equal(sshHost, address);
      assert.equal(await answers(address, 22), true);
    }
  });

  it("has only internal load balancers, which answer clients with a route to the network", async () => {
    const { external: first = "", internal = "" } = stack.outputs.samples ?? {};
    assert.notEqual(first, internal);
    for (const address of [first, internal]) {
      assert.match(address, /^10\.79\.0\.\d+$/);
      assert.equal((await sendHttpRequest(`http://${address}/`, { timeout: 10_000 })).status, 200);
    }
  });

  it("connects pods to other machines' pods, to Services by name, and to outside hosts", async () => {
    const outside = [`${management.cloud}:5000`];
    assert.ok((await connectPods(stack.serverOf("control-plane-0"), outside)) >= 2);
  });

  it("opens node ports only to the configured range, and works without the load balancer", async () => {
    const path =
      "-n stackadm-samples get service web-internal -o jsonpath={.spec.ports[0].nodePort}";
    const [worker, nodePort] = [addressOf("general-0"), Number(await ask(path))];
    assert.equal(await answers(worker, nodePort), false);
    await stack.up(changed(alone));
    await balancer.close();
    await stack.prove(1);
    const first = addressOf("control-plane-0");
    assert.equal(new URL(stack.outputs.apiEndpoint).hostname, first);
    assert.equal(await apiOn("general-0"), first);
    await until(() => answers(worker, nodePort), 30);
  });

  it("has no changes on a second `up`", async () => {
    await stack.again(changed(alone));
  });

  it("is destroyed without leftovers", async () => {
    await stack.destroyAndLookAround();
  });
});
