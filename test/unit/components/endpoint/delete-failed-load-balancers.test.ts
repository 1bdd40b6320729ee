import { strict as assert } from "node:assert";
import { connectCloud } from "../../../../openstack/client/cloud-client.js";
import { getClusterTags } from "../../../../openstack/inventory/ownership.js";
import { deleteFailedLoadBalancers } from "../../../../components/endpoint/delete-failed-load-balancers.js";
import { startFakeCloud, type FakeCloud } from "../../../support/cloud/fake-openstack.js";

const mark = { name: "dev", identity: "0123456789ab" };
const fast = { interval: 1, timeout: 200 };

describe("deleteFailedLoadBalancers", () => {
  let cloud: FakeCloud;
  let left: object[];
  beforeEach(async () => {
    cloud = await startFakeCloud();
    left = [];
    cloud.on("GET /load-balancer/lbaas/loadbalancers", () => ({ body: { loadbalancers: left } }));
    cloud.on("GET /load-balancer/lbaas/loadbalancers/failed", () => ({
      body: { loadbalancer: left[0] },
    }));
  });
  afterEach(async () => {
    await cloud.close();
  });
  const clear = async (): Promise<string[]> =>
    deleteFailedLoadBalancers(
      await connectCloud({ env: cloud.environment() }),
      { ...mark, name: "dev-api" },
      fast,
    );
  const deleted = (): string[] =>
    cloud.seen.filter(({ method }) => method === "DELETE").map(({ path }) => path);

  it("deletes a failed load balancer with its parts and reports the deletion", async () => {
    left = [
      { id: "failed", name: "dev-api", tags: getClusterTags(mark), provisioning_status: "ERROR" },
    ];
    cloud.on("DELETE /load-balancer/lbaas/loadbalancers/failed", () => {
      left = [];
      return { status: 204 };
    });
    assert.deepEqual(await clear(), [
      "Octavia could not create the load balancer dev-api (failed, ERROR); it was deleted.",
    ]);
    assert.deepEqual(deleted(), ["/load-balancer/lbaas/loadbalancers/failed?cascade=true"]);
  });

  it("keeps a failed balancer with listeners, because it is in use and the state is outdated", async () => {
    const listeners = [{ id: "listener" }];
    left = [{ id: "failed", name: "dev-api", tags: getClusterTags(mark), listeners }];
    await assert.rejects(clear(), /dev-api.*has listeners, but it is not in the state/);
    assert.deepEqual(deleted(), []);
  });

  it("keeps balancers of other clusters with the same name and of the cluster's Services", async () => {
    left = [
      { id: "other", name: "dev-api", tags: getClusterTags({ ...mark, identity: "ba9876543210" }) },
      { id: "foreign", name: "dev-api" },
      { id: "service", name: "kube_service_dev-0123456789ab_default_web" },
    ];
    assert.deepEqual(await clear(), []);
    assert.deepEqual(deleted(), []);
  });
});
