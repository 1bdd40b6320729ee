import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { RunOptions } from "../../../automation/cluster/options.js";
import { Embedder } from "../../support/embedder.js";
import { networkType, urnOf, type Engine } from "../../support/engine.js";
import { startFakeCluster } from "../../support/ready-cluster.js";

const bare = { preflight: false, verify: false } as const;

describe("a cluster whose API does not answer while the engine is to read what is there", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  let engine: Engine;
  let api: Server;
  let healthy: boolean;
  let notes: string[];
  const service = urnOf("kubernetes:core/v1:Service", "web");
  const own = urnOf("kubernetes:core/v1:Namespace", "own");

  beforeEach(async () => {
    embedder = await Embedder.start("config: {}\n");
    ({ engine } = embedder);
    [healthy, notes] = [false, []];
    api = createServer((_, response) => {
      response.writeHead(healthy ? 200 : 500).end("etcd failed");
    });
    await new Promise<void>((done) => api.listen(0, "127.0.0.1", done));
    const address = `http://127.0.0.1:${String((api.address() as AddressInfo).port)}`;
    const cluster = await startFakeCluster();
    const kubeconfig = cluster.kubeconfig.replace(/server: \S+/, `server: ${address}`);
    await cluster.close();
    const provider = (urn: string) => ({
      ...{ urn, type: "pulumi:providers:kubernetes", id: "p", inputs: { kubeconfig } },
    });
    const ours = provider(
      urnOf("stackadm:addons:Addons$pulumi:providers:kubernetes", "dev-addons-provider"),
    );
    const another = provider(urnOf("pulumi:providers:kubernetes", "own"));
    engine.state({
      resources: [
        { urn: urnOf(networkType, "dev-network-network"), type: networkType, id: "net" },
        ...[ours, another],
        { urn: service, type: "kubernetes:core/v1:Service", id: "s", provider: `${ours.urn}::p` },
        { urn: own, type: "kubernetes:core/v1:Namespace", id: "n", provider: `${another.urn}::p` },
      ],
    });
  });
  afterEach(async () => {
    await embedder.stop();
    api.close();
  });
  const listening = (): RunOptions => ({ onNote: (text) => void notes.push(text) });
  const operations = (): string[] =>
    engine.calls().filter((call) => /^(up|refresh|preview) /.test(call));
  const passesOver = (call = ""): boolean =>
    [service, own].every((urn) => call.includes(`--exclude ${urn}`));

  it("keeps no `up --refresh` from making its machines anew: its objects are not read, and all is brought up", async () => {
    await embedder.service().up("dev", { ...bare, ...listening(), refresh: true });
    const [read = "", made = "", ...more] = operations();
    assert.ok(read.startsWith("refresh ") && passesOver(read), read);
    assert.ok(made.startsWith("up ") && !/--(refresh|exclude)/.test(made), made);
    assert.deepEqual(more, []);
    assert.match(
      notes.join("\n"),
      /API of cluster 'dev' cannot be used \(it answers 500: etcd failed\): what is in it is not read/,
    );
  });

  it("is passed over by a refresh, and by a preview with one", async () => {
    await embedder.service().refresh("dev", listening());
    await embedder.service().preview("dev", { ...bare, refresh: true });
    assert.deepEqual(operations().map(passesOver), [true, true]);
  });

  it("is not asked where nothing is to be read, and read where it answers", async () => {
    await embedder.service().up("dev", { ...bare, ...listening() });
    healthy = true;
    await embedder.service().up("dev", { ...bare, ...listening(), refresh: true });
    assert.ok(operations().every((call) => !call.includes("--exclude")));
    assert.deepEqual([operations().length, notes], [2, []]);
  });
});
