import assert from "node:assert/strict";
import { Embedder, fails, settingsOf } from "../../../support/engine/embedder.js";
import { fakeUser } from "../../../support/cloud/fake-openstack.js";
import { mistakes } from "../../../support/config/invalid-values.js";
import { smallest } from "../../../support/config/spec.js";

describe("an invalid value in a stack's settings", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  before(async () => {
    embedder = await Embedder.start();
  });
  after(() => embedder.stop());

  for (const [path, over] of mistakes)
    it(`fails before the first request, with its path and a fix: ${path} ${JSON.stringify(over)}`, async () => {
      embedder.write("Pulumi.dev.yaml", settingsOf({ ...smallest, ...over }));
      const { message, hint } = await fails(embedder.service().up("dev"), "INVALID_CONFIG");
      const [title, sentence, ...others] = message.split("\n");
      assert.equal(title, "Pulumi.dev.yaml is not valid:");
      const place = path === "" ? "  cluster: " : `  cluster.${path}: `;
      assert.ok(sentence?.startsWith(place), message);
      assert.deepEqual(others, [], "one mistake, one sentence");
      assert.match(hint, /nothing was changed/);
      assert.deepEqual([embedder.cloud.seen, embedder.engine.calls()], [[], []]);
    });
});

describe("a cloud without application credentials in Keystone", function () {
  this.timeout(60_000);

  it("requires a user in the settings before anything is created, and accepts a cluster with a user", async () => {
    const embedder = await Embedder.start();
    const path = `/identity/v3/users/${fakeUser}/application_credentials`;
    embedder.cloud.on(`GET ${path}`, { status: 404 });
    try {
      const { message } = await fails(embedder.service().up("dev"), "PREFLIGHT_FAILED");
      assert.match(
        message,
        /:\n {2}credential: this cloud's Keystone offers no application credentials, or does not allow you one; write credential\.username, credential\.userDomainName and credential\.password of a user/,
      );
      assert.deepEqual(embedder.engine.operations(), []);
      const credential = { username: "shop", password: { secure: "v1:AAAA" } };
      const settings = settingsOf({ credential });
      assert.deepEqual(await embedder.service().preflight("dev", { settings }), []);
      await embedder.service().up("dev", { settings, verify: false, kubeconfigFile: false });
      assert.deepEqual(embedder.engine.operations(), ["up"]);
    } finally {
      await embedder.stop();
    }
  });
});
