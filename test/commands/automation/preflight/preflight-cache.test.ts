import assert from "node:assert/strict";
import { mkdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { Embedder, settingsOf } from "../../../support/engine/embedder.js";
import { instanceType, urnOf } from "../../../support/engine/fake-engine.js";

describe("a cluster that came up well and is as it was", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  const holds = (...ids: readonly string[]): void => {
    const resources = ids.map((id) => ({ urn: urnOf(instanceType, id), type: instanceType, id }));
    embedder.engine.state({ resources });
  };
  /** Returns the number of requests of an `up` to the cloud, without authentication. */
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

  it("is asked for when one of its objects is gone, to be created again", async () => {
    const resource = (id: string, more = {}) => ({
      urn: urnOf(instanceType, id),
      type: instanceType,
      id,
      custom: true,
      ...more,
    });
    const resources = [resource("a"), resource("b", { pendingReplacement: true })];
    embedder.engine.state({ resources });
    assert.ok((await questions()) > 10);
  });

  it("is asked for after the repair of an interrupted run", async () => {
    const resource = { urn: urnOf(instanceType, "a"), type: instanceType, custom: true };
    const resources = ["a", "b"].map((id) => ({ ...resource, urn: urnOf(instanceType, id), id }));
    embedder.engine.state({ resources, pending_operations: [{ type: "deleting", resource }] });
    assert.ok((await questions()) > 10);
  });

  it("is told each time how soon its credential ends", async () => {
    const expiresAt = new Date(Date.now() + 2 * 86_400_000).toISOString().replace(/\.\d+/, "");
    const settings = settingsOf({ credential: { expiresAt } });
    for (const time of ["first", "second"]) {
      const notes: string[] = [];
      const onNote = (text: string): void => void notes.push(text);
      const options = { verify: false, kubeconfigFile: false, settings, onNote };
      await embedder.service().up("dev", options);
      assert.match(notes.join("\n"), /credential\.expiresAt: .* ends at /, time);
    }
  });

  it("came up also where that cannot be remembered", async () => {
    const file = join(dirname(embedder.kubeconfig()), "fitted");
    rmSync(file);
    mkdirSync(file);
    await assert.doesNotReject(questions({ refresh: true }));
  });

  it("is asked for after an `up` that failed half-way", async () => {
    embedder.engine.runs({ up: { stderr: "error: no\n", code: 1 } });
    holds("a");
    await assert.rejects(questions());
    embedder.engine.runs({ up: {} });
    assert.ok((await questions()) > 10);
  });
});
