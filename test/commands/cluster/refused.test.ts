import assert from "node:assert/strict";
import { Embedder, fails, settingsOf } from "../../support/embedder.js";
import { mistakes } from "../../support/mistakes.js";
import { smallest } from "../../support/spec.js";

describe("a wrong value in a stack's settings", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  before(async () => {
    embedder = await Embedder.start();
  });
  after(() => embedder.stop());

  for (const [path, over] of mistakes)
    it(`is refused before the first call, by its path and what to write: ${path} ${JSON.stringify(over)}`, async () => {
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
