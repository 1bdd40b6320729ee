import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { Listening } from "../../../support/engine/listening-service.js";
import { Embedder } from "../../../support/engine/embedder.js";
import { networkType, urnOf, type Engine } from "../../../support/engine/fake-engine.js";
import { startFakeCluster } from "../../../support/cloud/ready-cluster.js";

const bare = { preflight: false, verify: false } as const;

describe("a cluster whose API is unavailable during a refresh", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  let engine: Engine;
  let api: Server;
  let healthy: boolean;
  let notes: string[];
  const service = urnOf("kubernetes:core/v1:Service", "web");
  const own = urnOf("kubernetes:core/v1:Namespace", "own");

  /** Returns the kubeconfig of a cluster whose API is this server. */
  const kubeconfigOf = async (server: Server): Promise<string> => {
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    const address = `http://127.0.0.1:${String((server.address() as AddressInfo).port)}`;
    const cluster = await startFakeCluster();
    await cluster.close();
    return cluster.kubeconfig.replace(/server: \S+/, `server: ${address}`);
  };
  const providerOf = (name: string, kubeconfig: string) => ({
    urn: urnOf("stackadm:addons:Addons$pulumi:providers:kubernetes", name),
    type: "pulumi:providers:kubernetes",
    id: "p",
    inputs: { kubeconfig },
  });

  beforeEach(async () => {
    embedder = await Embedder.start("config: {}\n");
    ({ engine } = embedder);
    [healthy, notes] = [false, []];
    api = createServer((_, response) => {
      response.writeHead(healthy ? 200 : 500).end("etcd failed");
    });
    const kubeconfig = await kubeconfigOf(api);
    const ours = providerOf("dev-addons-provider", kubeconfig);
    const urn = urnOf("pulumi:providers:kubernetes", "own");
    const another = { ...ours, urn };
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
  const listening = (): Listening => ({ onNote: (text) => void notes.push(text) });
  const operations = (): string[] =>
    engine.calls().filter((call) => /^(up|refresh|preview) /.test(call));
  const passesOver = (call = ""): boolean =>
    [service, own].every((urn) => call.includes(`--exclude ${urn}`));

  it("is skipped by the refresh of `up --refresh`, which still updates all resources", async () => {
    await embedder.service().up("dev", { ...bare, ...listening(), refresh: true });
    const [read = "", made = "", ...more] = operations();
    assert.ok(read.startsWith("refresh ") && passesOver(read), read);
    assert.ok(made.startsWith("up ") && !/--(refresh|exclude)/.test(made), made);
    assert.deepEqual(more, []);
    assert.match(
      notes.join("\n"),
      /API of cluster 'dev' cannot be used \(it answers 500: etcd failed\): its objects are not read/,
    );
  });

  it("is skipped by a refresh, and by a preview with refresh", async () => {
    await embedder.service().refresh("dev", listening());
    await embedder.service().preview("dev", { ...bare, refresh: true });
    assert.deepEqual(operations().map(passesOver), [true, true]);
  });

  it("is skipped only during a refresh, and only while its API is unavailable", async () => {
    await embedder.service().up("dev", { ...bare, ...listening() });
    await embedder.service().preview("dev", bare);
    healthy = true;
    await embedder.service().up("dev", { ...bare, ...listening(), refresh: true });
    assert.ok(operations().every((call) => !call.includes("--exclude")));
    assert.deepEqual([operations().length, notes], [3, []]);
  });

  it("is skipped while an available cluster of the same stack is refreshed", async () => {
    const answering = createServer((_, response) => {
      response.writeHead(200).end("{}");
    });
    try {
      const test = providerOf("test-addons-provider", await kubeconfigOf(answering));
      const config = { urn: urnOf("kubernetes:core/v1:ConfigMap", "conf"), id: "c" };
      const inTest = {
        ...config,
        type: "kubernetes:core/v1:ConfigMap",
        provider: `${test.urn}::p`,
      };
      const resources = engine.stateNow()?.deployment["resources"] as object[];
      engine.state({ resources: [...resources, test, inTest] });
      await embedder.service().refresh("dev", listening());
      const [read = ""] = operations();
      assert.ok(passesOver(read) && !read.includes(inTest.urn), read);
    } finally {
      answering.close();
    }
  });
});
