import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { z } from "zod";
import { etcdMembers } from "../../support/kubernetes/etcd.js";
import { useApi } from "../../support/kubernetes/api-client.js";
import { inServer, scriptRuns } from "../../support/machines/machines.js";
import { Stack } from "../../support/stack/stack.js";
import { nonEmpty } from "../../../support/non-empty.js";

const minutes = 60_000;

describe("three control planes whose generation is raised, on the lab", function () {
  this.timeout(20 * minutes);
  const stack = new Stack("roll");
  // Each generation has a larger etcd volume.
  const controlPlanes = (generation: number, count = 3) => ({
    flavor: "k8s-control-plane",
    count,
    generation,
    etcdVolume: { size: generation + 1 },
  });
  const of = (generation: number, count = 3): Record<string, unknown> => ({
    controlPlane: controlPlanes(generation, count),
    workers: { general: { flavor: "k8s-worker", count: 1 } },
    endpoint: { kind: "load-balancer" },
    samples: false,
  });
  before(async () => {
    await stack.open();
  });
  after(async () => {
    await stack.cluster.close();
  });

  const servers = z.object({
    servers: z.array(z.looseObject({ name: z.string(), status: z.string() })),
  });
  /**
   * Counts the active servers of control planes repeatedly until `end` is called. `end` returns the
   * minimum.
   */
  const watchServers = (): { end(): Promise<number> } => {
    let [fewest, running] = [Infinity, true];
    const path = "/servers/detail?name=%5Eroll-control-plane-";
    const loop = async (): Promise<void> => {
      while (running) {
        const found = servers.parse(await stack.cluster.cloud.request("compute", "GET", path));
        const active = found.servers.filter(({ status }) => status === "ACTIVE").length;
        fewest = Math.min(fewest, active);
        await pause(500);
      }
    };
    const looping = loop();
    return {
      end: async () => {
        running = false;
        await looping;
        return fewest;
      },
    };
  };
  const ids = (): string[] =>
    [0, 1, 2].map((position) => stack.serverOf(`control-plane-${String(position)}`));
  /**
   * Returns the order in which the engine replaced the servers of control planes. Each entry
   * contains the position of the control plane.
   */
  const order = (): string[] =>
    stack.cluster.seen.events.flatMap((event) => {
      if (event.type !== "resource" || event.state !== "finished" || event.kind !== "Instance")
        return [];
      const { name, change } = event;
      const position = /^roll-control-plane-(\d)-server$/.exec(name)?.[1] ?? name;
      return change === "create-replacement" || change === "delete-replaced"
        ? [`${change} ${position}`]
        : [];
    });

  it("start as three etcd members", async () => {
    await stack.up(of(0));
    await stack.prove(3);
  });

  it("refuse a lower count together with a new generation, without changes", async () => {
    const before = ids();
    await assert.rejects(
      stack.up(of(1, 1)),
      /controlPlane\.generation: 1 would replace roll-control-plane-0, while .* would be removed/,
    );
    const { problem } = await stack.cluster.service.status(stack.name);
    assert.equal(problem, undefined);
    await stack.again(of(0));
    assert.deepEqual(ids(), before);
  });

  it("are replaced one at a time, while the API keeps answering", async () => {
    const [before, worker] = [ids(), stack.serverOf("general-0")];
    const { clusterId } = stack.outputs;
    const runs = await scriptRuns(worker);
    const [use, watch] = [useApi(stack.outputs.kubeconfig), watchServers()];
    await stack.up(of(1));
    const [{ longestGap, answered, failed, said }, fewest] = [await use.end(), await watch.end()];
    assert.deepEqual(
      order(),
      ["0", "1", "2"].flatMap((one) => [`delete-replaced ${one}`, `create-replacement ${one}`]),
    );
    assert.equal(fewest, 2);
    assert.equal(ids().filter((id) => before.includes(id)).length, 0);
    assert.equal(stack.serverOf("general-0"), worker);
    assert.equal(await scriptRuns(worker), runs, "no script ran on the worker");
    assert.equal(stack.outputs.clusterId, clusterId);
    // The load balancer sends requests to a deleted server until the health monitor notices the
    // deletion (up to 15 s). There are ten requests per second.
    assert.ok(answered > 500 && failed <= 3 * 150 && longestGap < 30_000, said);
  });

  it("rejoin etcd with the same names and addresses", async () => {
    await stack.prove(3);
    const members = await etcdMembers(stack.serverOf("control-plane-0"));
    assert.deepEqual(
      members.map(({ name, address }) => `${name} ${address}`).sort(),
      stack.controlPlanes.map(({ name, address }) => `${name} ${address}`).sort(),
    );
  });

  it("get larger etcd volumes only together with a new generation", async () => {
    for (const id of nonEmpty(ids())) {
      const bytes = Number(await inServer(id, "findmnt -bno SIZE /var/lib/etcd"));
      assert.ok(bytes > 1.5 * 2 ** 30 && bytes < 2.1 * 2 ** 30, String(bytes));
    }
    // A changed volume size takes effect only in the next generation.
    const waiting = { ...of(1), controlPlane: { ...controlPlanes(1), etcdVolume: { size: 3 } } };
    await stack.again(waiting);
  });

  it("have no changes on a second `up`", async () => {
    await stack.again(of(1));
  });

  it("shrink to one while the API keeps answering, and leave etcd before their servers are deleted", async () => {
    const use = useApi(stack.outputs.kubeconfig);
    await stack.up(of(1, 1));
    const { longestGap, answered, failed, said } = await use.end();
    // There are ten requests per second. The election of another etcd leader takes one or two
    // seconds.
    assert.ok(answered > 50 && failed <= 30 && longestGap < 15_000, said);
    const deleted = stack.cluster.seen.events.flatMap((event) =>
      event.type === "resource" && event.state === "finished" && event.change === "delete"
        ? event.name
        : [],
    );
    for (const position of ["1", "2"]) {
      const machine = `roll-control-plane-${position}`;
      const order = [`roll-endpoint-member-${position}`, `${machine}-leave`, `${machine}-server`];
      assert.deepEqual(
        deleted.filter((name) => order.includes(name)),
        order,
      );
    }
    await stack.prove(1);
  });

  it("are destroyed without leftovers", async () => {
    await stack.destroyAndLookAround();
  });
});
