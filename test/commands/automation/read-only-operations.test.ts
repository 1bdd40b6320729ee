import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { Embedder, settingsOf } from "../../support/engine/embedder.js";
import {
  networkType,
  sameOutputs,
  stepEvent,
  type Engine,
} from "../../support/engine/fake-engine.js";
import { creating } from "../../support/engine/pending-operations.js";
import { startFakeCluster, type FakeCluster } from "../../support/cloud/ready-cluster.js";

describe("a program that reads through the cluster service", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  let engine: Engine;
  let cluster: FakeCluster;
  beforeEach(async () => {
    embedder = await Embedder.start();
    ({ engine } = embedder);
    cluster = await startFakeCluster();
    engine.outputs(cluster.outputs);
    engine.state({});
  });
  afterEach(async () => {
    await embedder.stop();
    await cluster.close();
  });

  it("gets the rows of a plan", async () => {
    const net = { type: networkType, name: "net" };
    engine.runs({ preview: { events: [stepEvent("resourcePreEvent", net)] } });
    assert.deepEqual(await embedder.service().preview("dev"), {
      plan: [{ operation: "create", type: "Network", name: "net" }],
    });
  });

  it("gets pending repairs first in the plan, without rows that the plan already has", async () => {
    const [half, other] = [creating(networkType, "net"), creating(networkType, "other")];
    engine.state({ pending_operations: [half, other] });
    const net = { type: networkType, name: "net" };
    engine.runs({ preview: { events: [stepEvent("resourcePreEvent", net)] } });
    const notes: string[] = [];
    const onNote = (text: string): void => void notes.push(text);
    assert.deepEqual(await embedder.service().preview("dev", { onNote }), {
      plan: [
        { operation: "repair", type: "Network", name: "other" },
        { operation: "create", type: "Network", name: "net" },
      ],
    });
    assert.match(
      notes.join("\n"),
      /left these operations unfinished: Network 'net', Network 'other'\. `up`/,
    );
  });

  it("gets a warning about a deprecated setting from the preflight", async () => {
    const settings = settingsOf({ kubernetes: { kubeProxy: { mode: "ipvs" } } });
    const findings = await embedder.service().preflight("dev", { settings });
    assert.deepEqual(
      findings.flatMap(({ severity, text }) => (text.includes("ipvs") ? [severity] : [])),
      ["warning"],
    );
  });

  it("gets the number of resources that differ from the state", async () => {
    const net = { type: networkType, name: "net", op: "update" };
    engine.runs({ refresh: { events: [stepEvent("resOutputsEvent", net)] } });
    assert.deepEqual(await embedder.service().refresh("dev"), { changed: 1 });
  });

  it("gets the machines from Nova and the nodes from Kubernetes", async () => {
    const servers = [{ id: "id-of-dev-general-0", name: "dev-general-0", status: "ACTIVE" }];
    embedder.cloud.on("GET /compute/servers/detail", { body: { servers } });
    const { cluster: which, machines, verification } = await embedder.service().status("dev");
    assert.deepEqual([which.clusters, which.held, which.place?.region], [["dev"], false, "one"]);
    assert.deepEqual(
      machines.map(({ name, server }) => [name, server]),
      [
        ["dev-control-plane-0", "GONE"],
        ["dev-general-0", "ACTIVE"],
      ],
    );
    assert.equal(verification?.ok, true);
  });

  it("gets a warning if etcd machines share a host", async () => {
    // Role that the program does not know, so that nothing connects to these machines by SSH.
    const etcd = [0, 1].map((position) => ({
      name: `dev-etcd-${String(position)}`,
      role: "of etcd",
      zone: "",
      address: "10.0.0.20",
      serverId: String(position),
    }));
    engine.outputs({ ...cluster.outputs, etcd: { value: etcd } });
    const servers = etcd.map(({ serverId: id }) => ({ id, hostId: "h" }));
    embedder.cloud.on("GET /compute/servers/detail", { body: { servers } });
    const { warnings } = await embedder.service().status("dev");
    assert.match(warnings.join(), /^dev-etcd-0 and dev-etcd-1 are on one host, /);
    const notes: string[] = [];
    engine.runs({ up: { events: [sameOutputs] } });
    engine.state({ resources: [] });
    await embedder.service().up("dev", { preflight: false, onNote: (line) => notes.push(line) });
    assert.deepEqual(
      notes.filter((line) => line.includes("one host")),
      warnings.map((text) => `! ${text}`),
    );
  });

  it("gets the machines and the API's error if the API is unreachable", async () => {
    await cluster.close();
    const { machines, verification, problem } = await embedder.service().status("dev");
    assert.deepEqual([machines.length, verification], [2, undefined]);
    assert.match(problem?.message ?? "", /^The Kubernetes API at 127\.0\.0\.1:\d+ cannot be/);
  });

  it("gets the kubeconfig as text or as a file, and outputs with or without secrets", async () => {
    const service = embedder.service();
    assert.equal(await service.kubeconfig("dev"), cluster.kubeconfig);
    assert.ok(!existsSync(embedder.kubeconfig()));
    const path = await service.kubeconfigFile("dev");
    assert.equal(readFileSync(path, "utf8"), cluster.kubeconfig);
    assert.equal((await service.outputs("dev"))["kubeconfig"], cluster.kubeconfig);
    assert.equal((await service.outputs("dev", { secrets: "hidden" }))["kubeconfig"], "[secret]");
  });
});
