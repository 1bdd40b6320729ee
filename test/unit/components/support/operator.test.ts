import { strict as assert } from "node:assert";
import { markersOf, operatorOf } from "../../../../components/support/operator.js";
import { fakeProject, startFakeCloud } from "../../../support/fake-openstack.js";

describe("the operator of a run", () => {
  it("signs in with what the environment that is given names, and with no other", async () => {
    const cloud = await startFakeCloud();
    try {
      const { connect } = operatorOf(cloud.environment(), "/nowhere");
      assert.equal((await connect()).projectId, fakeProject);
      assert.equal(cloud.seen.length, 1);
    } finally {
      await cloud.close();
    }
    const nobody = operatorOf({ HOME: "/nowhere" }, "/nowhere");
    await assert.rejects(nobody.connect());
    assert.equal(nobody.agentSocket, undefined);
  });

  it("remembers the failed machines of each stack beside the project", () => {
    assert.equal(markersOf("/project", "dev"), "/project/.stackadm/dev");
  });
});
