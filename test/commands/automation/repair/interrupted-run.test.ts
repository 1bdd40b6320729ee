import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { stringify } from "yaml";
import type { ListeningService } from "../../../support/engine/listening-service.js";
import { providerType } from "../../../support/cloud/claimed-volumes.js";
import { Embedder, fails } from "../../../support/engine/embedder.js";
import { networkType, urnOf, type Engine } from "../../../support/engine/fake-engine.js";
import type { FakeCloud } from "../../../support/cloud/fake-openstack.js";

const bare = { preflight: false, verify: false } as const;

describe("the repair of an interrupted run", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  let engine: Engine;
  let cloud: FakeCloud;
  const pending = {
    type: "creating",
    resource: {
      urn: urnOf(networkType, "net"),
      type: networkType,
      custom: true,
      inputs: { name: "dev" },
    },
  };
  const identity = {
    urn: urnOf("command:local:Command", "dev-identity"),
    type: "command:local:Command",
    custom: true,
    id: "made",
    outputs: { stdout: "0123456789ab" },
  };
  const interrupted = { resources: [identity], pending_operations: [pending] };
  const tags = ["stackadm-cluster=dev", "stackadm-identity=0123456789ab"];
  let networks: { id: string; name: string; tags: string[] }[];
  beforeEach(async () => {
    // Settings of the user's own program, which describe no cluster.
    embedder = await Embedder.start("config: {}\n");
    ({ engine, cloud } = embedder);
    networks = [{ id: "half-made", name: "dev", tags }];
    cloud.on("GET /network/networks", () => ({ body: { networks } }));
    engine.state(interrupted);
  });
  afterEach(() => embedder.stop());
  const service = (): ListeningService => embedder.service();
  /** Makes the cloud delete the network; `meanwhile` runs before the cloud answers. */
  const whileDeleting = (meanwhile: () => void): void => {
    cloud.on("DELETE /network/networks/half-made", () => {
      meanwhile();
      networks = [];
      return { status: 204 };
    });
  };
  const imports = (): number =>
    engine.calls().filter((call) => call.startsWith("stack import")).length;

  for (const backend of ["file", "s3://bucket"])
    it(`changes the cloud only while the engine holds the stack's lock: backend ${backend}`, async () => {
      if (backend !== "file") embedder.backend = backend;
      const seen: boolean[] = [];
      whileDeleting(() => {
        seen.push(engine.heldBy() !== undefined);
      });
      await service().up("dev", bare);
      assert.deepEqual(seen, [true]);
      assert.equal(engine.heldBy(), undefined);
      assert.deepEqual(engine.operations(), ["hold", "up"]);
      assert.deepEqual(engine.stateNow()?.deployment["pending_operations"], []);
    });

  it("starts no engine if no run was interrupted", async () => {
    engine.state({ resources: [identity] });
    await service().up("dev", bare);
    assert.deepEqual(engine.operations(), ["up"]);
    // One export before the operation, and one after it for the outputs.
    assert.equal(engine.calls().filter((call) => call.startsWith("stack export")).length, 2);
  });

  it("succeeds if the cloud hides a kind without pending operations", async () => {
    cloud.on("GET /load-balancer/lbaas/loadbalancers", { status: 403, body: {} });
    whileDeleting(() => undefined);
    await service().up("dev", bare);
    assert.deepEqual(networks, []);
    assert.deepEqual(engine.stateNow()?.deployment["pending_operations"], []);
  });

  it("changes nothing while another engine holds the lock", async () => {
    embedder.backend = "s3://bucket";
    const lock = "created by ann@elsewhere (pid 1) at 2026-01-02T03:04:05Z";
    const stderr = `error: the stack is currently locked by 1 lock(s)\n  s3://bucket/1.json: ${lock}\n`;
    engine.runs({ hold: { stderr, code: 255 } });
    const { exitCode, message } = await fails(service().up("dev", bare), "STACK_LOCKED");
    assert.equal(exitCode, 4);
    assert.equal(
      message,
      "Another operation holds this stack: process 1 of ann on elsewhere, since 2026-01-02T03:04:05Z.",
    );
    assert.deepEqual(cloud.seen, []);
    assert.deepEqual(engine.operations(), ["hold"]);
    assert.deepEqual(engine.stateNow()?.deployment, interrupted);
  });

  it("uses the pending operations after locking, and skips the repair if none are left", async () => {
    engine.runs({ hold: { state: { resources: [identity] } } });
    await service().up("dev", bare);
    assert.deepEqual(cloud.seen, []);
    assert.equal(imports(), 0);
    assert.deepEqual(engine.operations(), ["hold", "up"]);
  });

  it("fails and keeps the newer state if another operation writes the state during the repair", async () => {
    const other = { resources: [identity], pending_operations: [pending, pending] };
    whileDeleting(() => {
      engine.state(other);
    });
    const { message } = await fails(service().up("dev", bare), "STACK_LOCKED");
    assert.match(message, /^Another operation changed this stack meanwhile/);
    assert.deepEqual(engine.stateNow()?.deployment, other);
    assert.deepEqual(engine.operations(), ["hold"]);
  });

  it("fails and keeps the record if the engine with the lock dies", async () => {
    cloud.on("DELETE /network/networks/half-made", () => {
      process.kill(engine.heldBy() ?? NaN, "SIGKILL");
      // Continues while the network is listed.
      return { status: 204 };
    });
    await fails(service().up("dev", bare), "ENGINE_KILLED");
    assert.equal(imports(), 0);
    assert.deepEqual(engine.operations(), ["hold"]);
  });

  it("releases the lock and keeps the record if the caller cancels it", async () => {
    const stop = new AbortController();
    cloud.on("DELETE /network/networks/half-made", () => {
      stop.abort();
      return { status: 204 };
    });
    await fails(service().up("dev", { ...bare, signal: stop.signal }), "CANCELLED");
    assert.equal(engine.heldBy(), undefined);
    assert.equal(imports(), 0);
    assert.deepEqual(engine.operations(), ["hold"]);
  });

  it("stops the engine if the caller cancels it before the engine has the lock", async () => {
    engine.runs({ hold: { then: "wait" } });
    const stop = new AbortController();
    const waiting = setInterval(() => {
      if (engine.operations().includes("hold")) stop.abort();
    }, 50);
    await fails(service().up("dev", { ...bare, signal: stop.signal }), "CANCELLED").finally(() => {
      clearInterval(waiting);
    });
    assert.equal(imports(), 0);
    assert.deepEqual(engine.operations(), ["hold"]);
  });

  it("leaves a pending Service in a cluster to the next `up`, so that the Service keeps its address", async () => {
    const asked: string[] = [];
    const api = createServer(({ url = "" }, response) => {
      asked.push(url);
      response.end("{}");
    });
    await new Promise<void>((listening) => api.listen(0, "127.0.0.1", listening));
    const server = `http://127.0.0.1:${(api.address() as AddressInfo).port}`;
    const kubeconfig = stringify({
      "current-context": "c",
      clusters: [{ name: "c", cluster: { server } }],
      users: [{ name: "c", user: { token: "t" } }],
      contexts: [{ name: "c", context: { cluster: "c", user: "c" } }],
    });
    const provider = urnOf(providerType, "dev-addons-provider");
    const inputs = { kubeconfig: { plaintext: JSON.stringify(kubeconfig) } };
    const led = { urn: provider, type: "pulumi:providers:kubernetes", id: "p", inputs };
    const type = "kubernetes:core/v1:Service";
    const service = {
      urn: urnOf(type, "web"),
      type,
      custom: true,
      provider: `${provider}::p`,
      inputs: { apiVersion: "v1", kind: "Service", metadata: { name: "web", namespace: "ns" } },
    };
    engine.state({
      resources: [identity, led],
      pending_operations: [pending, { type: "creating", resource: service }],
    });
    whileDeleting(() => undefined);
    try {
      await embedder.service().up("dev", bare);
    } finally {
      api.closeAllConnections();
      api.close();
    }
    assert.deepEqual([asked, networks], [[], []], "existing objects are deleted in any case");
    assert.deepEqual(engine.stateNow()?.deployment["pending_operations"], []);
  });

  it("fails without deletions if the state is outdated", async () => {
    const stack = { urn: urnOf("pulumi:pulumi:Stack", "it"), type: "pulumi:pulumi:Stack" };
    const state = {
      manifest: { time: "2026-01-02T10:00:00Z" },
      resources: [{ ...stack, created: "2026-01-02T09:59:00Z" }, identity],
      pending_operations: [pending],
    };
    engine.state(state);
    const router = { id: "since", name: "dev", tags, created_at: "2026-01-02T10:02:00Z" };
    cloud.on("GET /network/routers", { body: { routers: [router] } });
    const { message, hint } = await fails(service().up("dev", bare), "PREFLIGHT_FAILED");
    assert.match(
      message,
      /^The state, last written at 2026-01-02T10:00:00.000Z, .* but the router 'dev' \(since\) of its cluster was created at 2026-01-02T10:02:00Z\. .* may be an outdated copy/,
    );
    assert.match(hint, /`pulumi refresh --clear-pending-creates` .* even if it runs\.$/);
    assert.deepEqual(engine.stateNow()?.deployment, state);
    assert.deepEqual([networks.length, engine.operations()], [1, ["hold"]]);
  });
});
