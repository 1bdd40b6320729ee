import assert from "node:assert/strict";
import type { StateResource } from "../../../automation/cluster/state.js";
import { serverGroupType } from "../../../automation/cluster/urn.js";
import { Embedder, settingsOf } from "../../support/embedder.js";
import { urnOf } from "../../support/engine.js";

const group = {
  ...{ urn: urnOf(serverGroupType, "dev-general-server-group"), type: serverGroupType },
  ...{ id: "g", custom: true },
  provider: "urn:pulumi:dev::stackadm::pulumi:providers:openstack::default_3_15_2::0123",
  inputs: { name: "g", policies: ["soft-anti-affinity"] },
  outputs: { name: "g", policies: ["soft-anti-affinity"] },
};

describe("a state that another version of the OpenStack plugin wrote", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  beforeEach(async () => {
    embedder = await Embedder.start();
    embedder.engine.state({ resources: [group] });
  });
  afterEach(() => embedder.stop());
  const imports = (): number =>
    embedder.engine.calls().filter((call) => call.startsWith("stack import")).length;
  const policies = (): unknown => {
    const resources = embedder.engine.stateNow()?.deployment["resources"] as StateResource[];
    return resources[0]?.inputs?.["policies"];
  };
  const quick = { verify: false, kubeconfigFile: false } as const;

  it("has the form of the one that is chosen when the engine begins an `up`", async () => {
    await embedder.service().up("dev", quick);
    assert.deepEqual([imports(), policies()], [1, "soft-anti-affinity"]);
    await embedder.service().up("dev", quick);
    assert.equal(imports(), 1);
  });

  it("stays as it is for a preview, and where that version is chosen or nobody knows which is", async () => {
    await embedder.service().preview("dev");
    await embedder
      .service()
      .up("dev", { ...quick, settings: settingsOf({ openstackPlugin: "3.15.2" }) });
    await embedder.service().up("dev", { ...quick, preflight: false });
    assert.deepEqual([imports(), policies()], [0, group.inputs.policies]);
  });
});
