import assert from "node:assert/strict";
import type {
  DestroyOptions,
  DestroyResult,
} from "../../../../automation/engine/operation-options.js";
import { Embedder, fails, settingsOf } from "../../../support/engine/embedder.js";
import { instanceType, urnOf } from "../../../support/engine/fake-engine.js";

const identity = "0123456789ab";

describe("a destroy before any change", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  beforeEach(async () => {
    embedder = await Embedder.start();
  });
  afterEach(() => embedder.stop());
  const destroy = (options: DestroyOptions): Promise<DestroyResult> =>
    embedder.service().destroy("dev", options);
  const held = (protect?: boolean): void => {
    const type = "command:local:Command";
    const outputs = { stdout: identity };
    const resources = [
      { urn: urnOf(type, "dev-identity"), type, id: "i", outputs, protect },
      { urn: urnOf(instanceType, "vm"), type: instanceType, id: "s1" },
    ];
    embedder.engine.state({ resources });
  };
  const untouched = (): void => {
    assert.deepEqual(embedder.engine.operations(), []);
    assert.ok(embedder.cloud.seen.every(({ method }) => method !== "DELETE"));
  };

  it("refuses a cluster with another identity than the identity in the plan", async () => {
    held();
    for (const identities of [["ba9876543210"], [identity, "ba9876543210"], []]) {
      const { message } = await fails(destroy({ identities }), "FAILED");
      assert.match(message, /has another cluster than .*: identity 0123456789ab instead of/);
    }
    untouched();
    const { identities } = await embedder.service().destroyPlan("dev");
    assert.equal((await destroy({ identities })).held, true);
  });

  it("refuses a cluster that was created after an empty plan", async () => {
    const { identities } = await embedder.service().destroyPlan("dev");
    held();
    await fails(destroy({ identities }), "FAILED");
    untouched();
  });

  it("refuses a cluster that the settings protect", async () => {
    held();
    const settings = settingsOf({ protect: true });
    const { message, hint } = await fails(destroy({ settings }), "PROTECTED");
    assert.match(
      message,
      /^The cluster 'dev' is protected: Pulumi\.dev\.yaml says `protect: true`\. N/,
    );
    assert.match(hint, /write `protect: false` in Pulumi\.dev\.yaml and run `stackadm up --stack/);
    const { protection } = await embedder.service().destroyPlan("dev", { settings });
    assert.equal(protection?.message, message);
    untouched();
  });

  it("refuses a cluster that partly invalid settings protect", async () => {
    held();
    for (const written of ["{image: 7, protect: true}", "{name: dev, protect: 'yes'}"]) {
      const settings = `config:\n  it:cluster: ${written}\n`;
      const { message } = await fails(destroy({ settings }), "PROTECTED");
      assert.match(message, /^The cluster 'dev' is protected: Pulumi\.dev\.yaml says/);
    }
    untouched();
  });

  it("refuses a cluster that the state protects, despite the current settings", async () => {
    held(true);
    const invalid = "config:\n  it:cluster:\n    image: 7\n";
    for (const options of [{}, { abandon: true }, { settings: invalid }]) {
      const { message } = await fails(destroy(options), "PROTECTED");
      assert.match(message, /: the state protects Command 'dev-identity'\. Nothing was changed\.$/);
    }
    untouched();
    held(false);
    assert.equal((await destroy({})).held, true);
  });

  it("accepts a stack without resources, despite `protect: true`", async () => {
    const settings = settingsOf({ protect: true });
    assert.equal((await destroy({ settings, identities: [] })).held, false);
  });
});
