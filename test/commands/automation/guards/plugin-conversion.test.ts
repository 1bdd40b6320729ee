import assert from "node:assert/strict";
import type { StateResource } from "../../../../automation/pulumi/stack-state.js";
import { serverGroupType } from "../../../../automation/pulumi/urn.js";
import { Embedder, settingsOf } from "../../../support/engine/embedder.js";
import { stepEvent, urnOf } from "../../../support/engine/fake-engine.js";

const name = "dev-general-server-group";
const group = {
  urn: urnOf(serverGroupType, name),
  type: serverGroupType,
  id: "g",
  custom: true,
  provider: "urn:pulumi:dev::stackadm::pulumi:providers:openstack::default_3_15_2::0123",
  inputs: { name: "g", policies: ["soft-anti-affinity"] },
  outputs: { name: "g", policies: ["soft-anti-affinity"] },
};
const planned = (op: string): unknown =>
  stepEvent("resourcePreEvent", { type: serverGroupType, name, op });

describe("a server group in the state of OpenStack plugin 3.15.2", function () {
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
  const pinned = settingsOf({ openstackPlugin: "3.15.2" });

  it("is converted once by `up` with 5.5.1, also without preflight", async () => {
    await embedder.service().up("dev", { ...quick, preflight: false });
    assert.deepEqual([imports(), policies()], [1, "soft-anti-affinity"]);
    await embedder.service().up("dev", quick);
    assert.equal(imports(), 1);
  });

  it("is excluded from the refresh of `up --refresh` with 5.5.1, because the old provider reads the old form", async () => {
    await embedder.service().up("dev", { ...quick, refresh: true });
    const [read = "", made = ""] = embedder.engine
      .calls()
      .filter((call) => /^(refresh|up) /.test(call));
    assert.ok(read.startsWith("refresh ") && read.includes(`--exclude ${group.urn}`), read);
    assert.ok(made.startsWith("up ") && !made.includes("--refresh"), made);
  });

  it("stays unchanged in a preview, in `up` with 3.15.2, and in `up` without cluster settings", async () => {
    await embedder.service().preview("dev");
    await embedder.service().up("dev", { ...quick, settings: pinned });
    await embedder.service().up("dev", { ...quick, preflight: false, settings: "config: {}" });
    assert.deepEqual([imports(), policies()], [0, group.inputs.policies]);
  });

  it("counts as unchanged for a preview with 5.5.1 and for `expectNoChanges`", async () => {
    embedder.engine.runs({ preview: { events: [planned("update")] } });
    assert.deepEqual((await embedder.service().preview("dev")).plan, []);
    await embedder.service().up("dev", { ...quick, expectNoChanges: true });
    assert.equal(imports(), 1);
  });

  it("is listed by a preview with 3.15.2 that replaces the server group", async () => {
    embedder.engine.runs({ preview: { events: [planned("replace")] } });
    const { plan } = await embedder.service().preview("dev", { settings: pinned });
    assert.deepEqual(plan, [{ operation: "replace", type: "ServerGroup", name }]);
  });

  it("counts as unchanged for a preview with 3.15.2 after the conversion by 5.5.1", async () => {
    await embedder.service().up("dev", quick);
    embedder.engine.runs({ preview: { events: [planned("replace")] } });
    assert.deepEqual((await embedder.service().preview("dev", { settings: pinned })).plan, []);
  });
});
