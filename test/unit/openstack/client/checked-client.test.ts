import assert from "node:assert/strict";
import { checkBeforeChanges } from "../../../../openstack/client/checked-client.js";
import { connectCloud } from "../../../../openstack/client/cloud-client.js";
import { startFakeCloud, type FakeCloud } from "../../../support/cloud/fake-openstack.js";

describe("a client that checks before changes", () => {
  let cloud: FakeCloud;
  beforeEach(async () => {
    cloud = await startFakeCloud();
    cloud.on("GET /network/networks", { body: { networks: [] } });
    cloud.on("DELETE /network/networks/one", { status: 204 });
  });
  afterEach(() => cloud.close());

  it("sends no change that the check refuses, and still reads", async () => {
    const plain = await connectCloud({ env: cloud.environment() });
    const checked = checkBeforeChanges(plain, () => Promise.reject(new Error("lost")));
    await assert.rejects(checked.request("network", "DELETE", "/networks/one"), /lost/);
    assert.deepEqual(await checked.request("network", "GET", "/networks"), { networks: [] });
    assert.ok(!cloud.seen.some(({ method }) => method === "DELETE"));
  });

  it("sends an allowed change, and has the properties of the other client", async () => {
    const plain = await connectCloud({ env: cloud.environment() });
    let checks = 0;
    const checked = checkBeforeChanges(plain, () => {
      checks += 1;
      return Promise.resolve();
    });
    await checked.request("network", "DELETE", "/networks/one");
    assert.equal(checks, 1);
    assert.equal(checked.projectId, plain.projectId);
    assert.equal(checked.offers("network"), plain.offers("network"));
  });
});
