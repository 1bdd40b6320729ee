import assert from "node:assert/strict";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { hostname } from "node:os";
import { join } from "node:path";
import { spawnSync } from "node:child_process";
import type { ClusterService } from "../../../automation/cluster/cluster-service.js";
import { processPlace } from "../../../base/process.js";
import { Embedder, fails } from "../../support/embedder.js";
import {
  diagnostic,
  instanceType,
  networkType,
  stepEvent,
  urnOf,
  type Engine,
} from "../../support/engine.js";
import type { FakeCloud } from "../../support/fake-openstack.js";
import { startFakeCluster } from "../../support/ready-cluster.js";

describe("the cluster service", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  let engine: Engine;
  let cloud: FakeCloud;
  beforeEach(async () => {
    // Settings of a program of its own, which describe no cluster.
    embedder = await Embedder.start("config: {}\n");
    ({ engine, cloud } = embedder);
  });
  afterEach(() => embedder.stop());
  const service = (): ClusterService => embedder.service();
  /** Nothing but the engine: neither settings nor outputs are a cluster's. */
  const bare = { preflight: false, verify: false };
  const lock = (pid: number, host = hostname()): void => {
    const folder = join(engine.directory, "backend", ".pulumi/locks/organization/it/dev");
    mkdirSync(folder, { recursive: true });
    const timestamp = new Date(0).toISOString();
    const text = JSON.stringify({ pid, username: "ann", hostname: host, timestamp });
    writeFileSync(join(folder, "lock.json"), text);
  };
  /** What is noted when an engine of this service takes the lock. */
  const note = (pid: number): void => {
    mkdirSync(embedder.state("locks"), { recursive: true });
    const text = JSON.stringify({ place: processPlace(), pid, started: "1" });
    writeFileSync(embedder.state("locks", "lock.json"), text);
  };

  it("knows nothing of a stack that is not there: no state, no outputs, nothing to destroy", async () => {
    assert.equal(await service().state("dev"), undefined);
    const { hint } = await fails(service().outputs("dev"), "STACK_NOT_FOUND");
    assert.equal(hint, "Make it with `npx stackadm up --stack dev`.");
    assert.deepEqual(await service().destroy("dev"), {
      cluster: "dev",
      held: false,
      deleted: [],
      kept: [],
    });
    assert.deepEqual(engine.operations(), []);
  });

  it("does operations on one stack one after the other, also after one that failed", async () => {
    const clusters = service();
    engine.runs({ up: { code: 255, stderr: "error: no\n" } });
    const works = [
      clusters.up("dev", bare),
      clusters.refresh("dev"),
      clusters.preview("dev", bare),
    ];
    const ended = await Promise.allSettled(works);
    assert.deepEqual(
      ended.map(({ status }) => status),
      ["rejected", "fulfilled", "fulfilled"],
    );
    assert.deepEqual(engine.operations(), ["up", "refresh", "preview"]);
  });

  it("does not begin what was stopped while it waited for its turn", async () => {
    const clusters = service();
    const stop = new AbortController();
    const first = clusters.preview("dev", bare);
    const second = clusters.up("dev", { signal: stop.signal });
    stop.abort();
    await first;
    const { message } = await fails(second, "CANCELLED");
    assert.match(message, /before anything was changed/);
    assert.deepEqual(engine.operations(), ["preview"]);
  });

  it("takes settings as text, and leaves the project's own file alone", async () => {
    await service().preview("dev", { ...bare, settings: "config:\n  it:word: given\n" });
    const work = join(engine.directory, "state", "stackadm", "work");
    const [folder = ""] = readdirSync(work);
    const copy = readFileSync(join(work, folder, "dev", "Pulumi.dev.yaml"), "utf8");
    assert.match(copy, /it:word: given/);
    assert.equal(readFileSync(join(engine.directory, "Pulumi.dev.yaml"), "utf8"), "config: {}\n");
  });

  describe("after a run that was interrupted", () => {
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
      ...{ urn: urnOf("command:local:Command", "dev-identity"), type: "command:local:Command" },
      ...{ custom: true, id: "made", outputs: { stdout: "0123456789ab" } },
    };
    const tags = ["stackadm-cluster=dev", "stackadm-identity=0123456789ab"];
    let networks: { id: string; name: string; tags?: string[] }[];
    beforeEach(() => {
      networks = [{ id: "half-made", name: "dev", tags }];
      cloud.on("GET /network/networks", () => ({ body: { networks } }));
      cloud.on("DELETE /network/networks/half-made", () => {
        networks = [];
        return { status: 204 };
      });
      engine.state({ resources: [identity], pending_operations: [pending] });
    });

    it("takes away what was half made, and says so, before the engine begins", async () => {
      const notes: string[] = [];
      await service().up("dev", { ...bare, onNote: (text) => notes.push(text) });
      assert.deepEqual(networks, []);
      assert.match(notes.join("\n"), /is repaired: Network 'net'\.$/m);
      assert.ok(engine.calls().findIndex((call) => call.startsWith("stack import")) >= 0);
      assert.deepEqual(engine.stateNow()?.deployment["pending_operations"], []);
    });

    it("leaves what may be somebody else's, names it and goes on", async () => {
      networks = [{ id: "half-made", name: "dev" }];
      const notes: string[] = [];
      await service().up("dev", { ...bare, onNote: (text) => notes.push(text) });
      assert.equal(networks.length, 1);
      assert.match(
        notes.join("\n"),
        /The network 'dev' \(half-made\) looks like .*: it is left as it is\./,
      );
    });

    it("changes nothing for a refresh, but says what `up` would do", async () => {
      const notes: string[] = [];
      await service().refresh("dev", { onNote: (text) => notes.push(text) });
      assert.equal(networks.length, 1);
      assert.match(notes.join("\n"), /undecided: Network 'net'\. .*`npx stackadm up` repairs it/);
      assert.deepEqual(engine.operations(), ["refresh"]);
      assert.deepEqual(engine.stateNow()?.deployment["pending_operations"], [pending]);
    });

    it("refuses a refresh that would forget a script that was stopped half-way", async () => {
      const type = "command:remote:Command";
      const resource = { urn: urnOf(type, "init"), type, custom: true };
      const stopped = [pending, { type: "updating", resource }];
      engine.state({ resources: [identity], pending_operations: stopped });
      const { hint } = await fails(service().refresh("dev"), "FAILED");
      assert.match(hint, /npx stackadm up/);
      assert.deepEqual(engine.operations(), []);
      assert.deepEqual(engine.stateNow()?.deployment["pending_operations"], stopped);
    });

    it("changes nothing for a preview", async () => {
      await service().preview("dev", bare);
      assert.equal(networks.length, 1);
      assert.ok(engine.calls().every((call) => !call.startsWith("stack import")));
    });

    it("does not begin when that cannot be done, and keeps the record for the next time", async () => {
      cloud.on("DELETE /network/networks/half-made", { status: 403, body: { message: "no" } });
      await assert.rejects(service().up("dev", bare), /no/);
      assert.deepEqual(engine.operations(), []);
      assert.deepEqual(engine.stateNow()?.deployment["pending_operations"], [pending]);
    });
  });

  it("takes a half-made object of Kubernetes away in the cluster of its provider, and in no other", async () => {
    const seen: string[] = [];
    const api = createServer((request, response) => {
      seen.push(request.url ?? "");
      response.writeHead(404).end("{}");
    });
    await new Promise<void>((done) => api.listen(0, "127.0.0.1", done));
    const cluster = await startFakeCluster();
    await cluster.close();
    const url = `http://127.0.0.1:${String((api.address() as AddressInfo).port)}`;
    const kubeconfig = cluster.kubeconfig.replace(/server: \S+/, `server: ${url}`);
    const kind = "pulumi:providers:kubernetes";
    const own = { urn: `urn:pulumi:dev::it::${kind}::fleet`, type: kind, id: "f" };
    const urn = urnOf(`stackadm:addons:Addons$${kind}`, "dev-addons-provider");
    const theirs = { urn, type: kind, id: "p", inputs: { kubeconfig } };
    const type = "kubernetes:core/v1:ConfigMap";
    const inputs = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" } };
    const interrupted = async (provider: string): Promise<number> => {
      const resource = { urn: urnOf(type, "a"), type, custom: true, inputs, provider };
      const resources = [{ ...own, inputs: { kubeconfig } }, theirs];
      engine.state({ resources, pending_operations: [{ type: "creating", resource }] });
      await service().up("dev", bare);
      assert.deepEqual(engine.stateNow()?.deployment["pending_operations"], []);
      return seen.length;
    };
    try {
      assert.equal(await interrupted(`${own.urn}::f`), 0);
      assert.equal(await interrupted(`${urn}::p`), 1);
    } finally {
      api.close();
    }
  });

  describe("when a script fails on a machine that lives", () => {
    const type = "command:remote:Command";
    const scripts = ["init", "join"].map((name) => ({
      ...{ urn: urnOf(type, name), type, custom: true },
      inputs: { update: "run" },
    }));
    const failed = stepEvent("resOpFailedEvent", { type, name: "init", op: "update" });
    const updates = (): unknown =>
      (engine.stateNow()?.deployment["resources"] as typeof scripts).map(
        ({ inputs }) => inputs.update,
      );

    it("has it run again, also when it is given its former values again", async () => {
      engine.state({ resources: scripts });
      engine.runs({ up: { events: [failed], code: 255, stderr: "error: no\n" } });
      await assert.rejects(service().up("dev", bare));
      const [init, join] = updates() as string[];
      assert.notEqual(init, "run");
      assert.equal(join, "run");
    });

    it("leaves one alone that came to its end when it was tried again", async () => {
      const finished = stepEvent("resOutputsEvent", { type, name: "init", op: "update" });
      engine.state({ resources: scripts });
      engine.runs({ up: { events: [failed, finished], code: 255, stderr: "error: no\n" } });
      await assert.rejects(service().up("dev", bare));
      assert.deepEqual(updates(), ["run", "run"]);
    });

    it("changes nothing for a preview", async () => {
      engine.state({ resources: scripts });
      engine.runs({ preview: { events: [failed], code: 255, stderr: "error: no\n" } });
      await assert.rejects(service().preview("dev", bare));
      assert.deepEqual(updates(), ["run", "run"]);
    });
  });

  describe("about locks", () => {
    it("removes that of a process which it noted and which is gone, and says whose it was", async () => {
      const { pid } = spawnSync("true");
      lock(pid);
      note(pid);
      const notes: string[] = [];
      engine.state({});
      await service().refresh("dev", { onNote: (text) => notes.push(text) });
      assert.match(notes.join("\n"), new RegExp(`^The lock of process ${pid} of ann`, "m"));
      assert.deepEqual(await service().unlock("dev"), []);
    });

    it("removes one that nobody noted only for who was shown it", async () => {
      const { pid } = spawnSync("true");
      lock(pid);
      await fails(service().refresh("dev"), "STACK_LOCKED");
      await fails(service().unlock("dev"), "STACK_LOCKED");
      const holders = await service().locks("dev");
      assert.match(holders.join(), new RegExp(`^process ${pid} of ann on .*, since 1970`));
      lock(pid + 1);
      await fails(service().unlock("dev", holders), "STACK_LOCKED");
      lock(pid);
      assert.deepEqual(await service().unlock("dev", holders), holders);
      await service().refresh("dev");
    });

    it("refuses under that of another host before it touches anything", async () => {
      lock(1, "elsewhere");
      const { exitCode, message } = await fails(service().up("dev", bare), "STACK_LOCKED");
      assert.equal(exitCode, 4);
      assert.match(message, /process 1 of ann on elsewhere, since 1970/);
      assert.deepEqual(engine.operations(), []);
    });

    it("lets the engine say who holds a backend that is no directory, and cancels only that", async () => {
      embedder.backend = "s3://bucket";
      assert.deepEqual(await service().locks("dev"), []);
      assert.deepEqual(await service().unlock("dev", []), []);
      const said = (pid: number): string =>
        `error: the stack is currently locked by 1 lock(s). Either wait ...\n  s3://bucket/.pulumi/locks/organization/it/dev/1.json: created by ann@elsewhere (pid ${pid}) at 2026-01-02T03:04:05Z\n`;
      engine.refuses({ "stack rename": said(1) });
      const holders = await service().locks("dev");
      assert.deepEqual(holders, ["process 1 of ann on elsewhere, since 2026-01-02T03:04:05Z"]);
      engine.refuses({ "stack rename": said(2) });
      await fails(service().unlock("dev", holders), "STACK_LOCKED");
      const cancelled = (): boolean => engine.calls().some((call) => call.startsWith("cancel"));
      assert.ok(!cancelled());
      engine.refuses({ "stack rename": said(1) });
      assert.deepEqual(await service().unlock("dev", holders), holders);
      assert.ok(cancelled());
    });
  });

  describe("when Nova could not make a server", () => {
    const urn = urnOf(instanceType, "vm");
    const provider = "error waiting for instance: unexpected state 'ERROR', wanted target 'ACTIVE'";
    const said = "Nova could not make the machine dev-0; ... is ERROR: No valid host was found.";
    const hook = `[SERVER_ERROR] ${said}`;
    const messageOf = async (...texts: string[]): Promise<string> => {
      const events = texts.map((text) => diagnostic(text, "error", urn));
      engine.runs({ up: { events, code: 255 } });
      return (await fails(service().up("dev", bare), "SERVER_ERROR")).message;
    };

    it("says what the program's hook found out", async () => {
      assert.equal(await messageOf(provider, hook), said);
    });

    it("says what the provider says when the hook could not find out", async () => {
      assert.match(await messageOf(provider), /^Instance 'vm': Nova could not make the machine/);
    });
  });
});
