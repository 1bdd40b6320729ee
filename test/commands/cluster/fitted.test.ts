import assert from "node:assert/strict";
import { Embedder, settingsOf } from "../../support/embedder.js";
import { instanceType, urnOf } from "../../support/engine.js";

describe("a cluster that came up well and is as it was", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  const holds = (...ids: readonly string[]): void => {
    const resources = ids.map((id) => ({ urn: urnOf(instanceType, id), type: instanceType, id }));
    embedder.engine.state({ resources });
  };
  /** How many questions an `up` puts to the cloud, beside signing in. */
  const questions = async (
    options: { refresh?: boolean; settings?: string } = {},
  ): Promise<number> => {
    const before = embedder.cloud.seen.length;
    await embedder.service().up("dev", { verify: false, kubeconfigFile: false, ...options });
    const seen = embedder.cloud.seen.slice(before);
    return seen.filter(({ path }) => !path.startsWith("/identity/v3/auth")).length;
  };
  beforeEach(async () => {
    embedder = await Embedder.start();
    holds("a", "b");
    assert.ok((await questions()) > 10);
  });
  afterEach(() => embedder.stop());

  it("fits: the cloud is asked for nothing", async () => {
    assert.equal(await questions(), 0);
  });

  it("is asked for when the settings are others, and when they are read anew from the cloud", async () => {
    assert.ok(
      (await questions({ settings: settingsOf({ sampleServices: { external: false } }) })) > 10,
    );
    assert.ok((await questions()) > 10);
    assert.ok((await questions({ refresh: true })) > 10);
  });

  it("is asked for when the state holds other objects", async () => {
    holds("a", "c");
    assert.ok((await questions()) > 10);
    holds("a", "c", "d");
    assert.ok((await questions()) > 10);
  });

  it("is asked for after an `up` that failed half-way", async () => {
    embedder.engine.runs({ up: { stderr: "error: no\n", code: 1 } });
    holds("a");
    await assert.rejects(questions());
    embedder.engine.runs({ up: {} });
    assert.ok((await questions()) > 10);
  });
});
