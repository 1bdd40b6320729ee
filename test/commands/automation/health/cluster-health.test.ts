import assert from "node:assert/strict";
import { Embedder } from "../../../support/engine/embedder.js";
import { sameOutputs, stackWith, type EngineOutput } from "../../../support/engine/fake-engine.js";
import { startFakeCluster, type FakeCluster } from "../../../support/cloud/ready-cluster.js";

describe("the verification of a cluster in the user's own program", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  let cluster: FakeCluster;
  beforeEach(async () => {
    embedder = await Embedder.start();
    cluster = await startFakeCluster();
    embedder.engine.state({ resources: [] });
    embedder.engine.runs({ up: { events: [sameOutputs] } });
  });
  afterEach(async () => {
    await embedder.stop();
    await cluster.close();
  });
  const reads = async (): Promise<number> => {
    await embedder.service().up("dev");
    return embedder.engine.calls().filter((call) => call.startsWith("stack output")).length;
  };

  it("reads the outputs again after the run if some outputs are secret", async () => {
    embedder.engine.outputs(cluster.outputs);
    embedder.engine.state({ resources: [stackWith(cluster.outputs)] });
    assert.deepEqual([await reads(), cluster.looks], [2, 1]);
  });

  it("warns of an overdue certificate renewal", async () => {
    embedder.engine.outputs(cluster.outputs);
    embedder.engine.state({ resources: [stackWith(cluster.outputs)] });
    cluster.certificate = "2026-01-01T00:00:00Z 2026-03-01T00:00:00Z pki/apiserver.crt";
    const notes: string[] = [];
    await embedder.service().up("dev", { onNote: (text) => notes.push(text) });
    assert.match(notes.join("\n"), /^! pki\/apiserver\.crt of dev-control-plane-0 ended at /m);
  });

  it("reads the outputs once if no output is secret and nothing changed", async () => {
    const open: Record<string, EngineOutput> = {};
    for (const [name, { value }] of Object.entries(cluster.outputs)) open[name] = { value };
    embedder.engine.outputs(open);
    embedder.engine.state({ resources: [stackWith(open)] });
    assert.deepEqual([await reads(), cluster.looks], [1, 1]);
  });
});
