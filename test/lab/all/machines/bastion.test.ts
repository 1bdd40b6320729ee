import assert from "node:assert/strict";
import { probeLogin } from "../../../../base/ssh-client.js";
import { findSshRoute } from "../../../../automation/verify/cluster-outputs.js";
import { takeInventory } from "../../../../openstack/inventory/inventory.js";
import {
  createNeighborNetwork,
  type NeighborNetwork,
} from "../../support/cloud/neighbor-network.js";
import { givenObjects, type ExistingObjects } from "../../support/cloud/given.js";
import { changes } from "../../support/stack/lab-cluster.js";
import { answers } from "../../support/network/reach.js";
import { Stack } from "../../support/stack/stack.js";

const minutes = 60_000;

describe("a cluster with a bastion in an existing network, on the lab", function () {
  this.timeout(10 * minutes);
  const stack = new Stack("bastion");
  let neighbor: NeighborNetwork;
  let given: ExistingObjects;
  let untouched: unknown;
  const changed = (): Readonly<Record<string, unknown>> => ({
    network: {
      nodes: neighbor.range,
      existing: { network: neighbor.name, router: neighbor.name },
    },
    access: "bastion",
    bastion: { flavor: "small", rootVolume: { size: 5 } },
    ssh: { floatingIp: given.floatingIp },
    workers: { general: { flavor: "k8s-worker", count: 1 } },
  });
  const login = () => ({
    user: "debian",
    agentSocket: stack.cluster.environment.agent?.socket ?? "",
  });
  before(async () => {
    await stack.open();
    neighbor = await createNeighborNetwork(stack.cluster.cloud, "office");
    given = await givenObjects(stack.cluster.cloud, "bastion-before");
    stack.initially = await takeInventory(stack.cluster.cloud);
    untouched = [await neighbor.state(), await given.state()];
  });
  after(async () => {
    await given.remove();
    await neighbor.remove();
    await stack.cluster.close();
  });

  it("starts and works", async () => {
    await stack.up(changed());
    await stack.prove(1);
    const [bastion] = stack.outputs.bastion ?? [];
    assert.equal(bastion?.role, "bastion");
    assert.equal(bastion.sshHost, given.floatingIp);
    assert.ok(stack.outputs.nodes.every(({ sshHost }) => sshHost === undefined));
    assert.ok(stack.outputs.nodes.every(({ address }) => address.startsWith("10.77.0.")));
  });

  it("boots its bastion from a volume", async () => {
    const objects = await takeInventory(stack.cluster.cloud);
    const volume = objects.find(
      ({ kind, name }) => kind === "volume" && name === "bastion-bastion-0-root",
    );
    assert.equal(volume?.gigabytes, 5);
  });

  it("accepts SSH from outside only at the bastion", async () => {
    const api = new URL(stack.outputs.apiEndpoint);
    assert.equal(await answers(api.hostname, Number(api.port)), true);
    assert.equal(await answers(api.hostname, 22), false);
    assert.equal(await answers(stack.outputs.bastion?.[0]?.sshHost ?? "", 22), true);
  });

  it("accepts 64 simultaneous logins through the bastion, to machines with verified host keys", async () => {
    const { outputs } = stack;
    const ways = outputs.nodes.map((node) => findSshRoute(node, outputs, login()) ?? assert.fail());
    const bastion = outputs.bastion?.[0]?.sshHost;
    assert.ok(ways.length > 0 && ways.every(({ proxy }) => proxy?.host === bastion));
    const all = Array.from({ length: 64 }, (_, n) => ways[n % ways.length] ?? assert.fail());
    const seen = await Promise.all(all.map((way) => probeLogin(way)));
    assert.deepEqual([...new Set(seen)], ["itself"]);
  });

  it("has no changes on a second `up`", async () => {
    await stack.up(changed());
    assert.deepEqual(changes(stack.cluster.seen.events), {});
  });

  it("removes and recreates its bastion, with the first control plane as SSH entry in between", async () => {
    await stack.up({ ...changed(), access: "control-plane", bastion: undefined, ssh: {} });
    assert.equal(stack.outputs.bastion, undefined);
    const { hostname } = new URL(stack.outputs.apiEndpoint);
    assert.equal(await answers(hostname, 22), true);
    await stack.up(changed());
    assert.equal(await answers(hostname, 22), false);
  });

  it("is destroyed without leftovers, and keeps the network and the floating IP unchanged", async () => {
    await stack.destroyAndLookAround();
    assert.deepEqual([await neighbor.state(), await given.state()], untouched);
  });
});
