import assert from "node:assert/strict";
import { sweep } from "../../../../automation/cluster/sweep.js";
import { connectCloud } from "../../../../cloud/client.js";
import { emptyProject, startFakeCloud, type FakeCloud } from "../../../support/fake-openstack.js";

describe("the sweep at the end", () => {
  let cloud: FakeCloud;
  beforeEach(async () => {
    cloud = await startFakeCloud();
    emptyProject(cloud);
  });
  afterEach(async () => {
    await cloud.close();
  });
  const run = async (owned: readonly string[] = []) =>
    sweep({
      cloud: await connectCloud({ env: cloud.environment() }),
      cluster: "dev",
      owned: new Set(owned),
      interval: 1,
    });
  const balancer = { id: "l", name: "kube_service_dev_a_b" };

  it("has nothing to do after a clean destroy", async () => {
    assert.deepEqual(await run(["gone"]), []);
    assert.ok(cloud.seen.every(({ method, path }) => method === "GET" || path.endsWith("/tokens")));
  });

  it("deletes what the cloud controller left, and says so", async () => {
    let balancers = [balancer];
    cloud.on("GET /load-balancer/lbaas/loadbalancers", () => ({
      body: { loadbalancers: balancers },
    }));
    cloud.on("DELETE /load-balancer/lbaas/loadbalancers/l", () => {
      balancers = [];
      return { status: 204 };
    });
    assert.deepEqual(
      (await run()).map(({ id }) => id),
      ["l"],
    );
  });

  it("does not say that nothing is left while something of the stack is", async () => {
    cloud.on("GET /compute/servers/detail", {
      body: {
        servers: [
          { id: "s", name: "dev-0" },
          { id: "foreign", name: "dev-1" },
        ],
      },
    });
    await assert.rejects(run(["s"]), /Still there: server 'dev-0'\.$/);
  });

  it("leaves foreign things alone, whatever their name", async () => {
    cloud.on("GET /compute/servers/detail", { body: { servers: [{ id: "f", name: "dev-0" }] } });
    assert.deepEqual(await run(["s"]), []);
  });
});
