import assert from "node:assert/strict";
import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { ListeningService } from "../../support/engine/listening-service.js";
import { Embedder, fails } from "../../support/engine/embedder.js";
import {
  diagnostic,
  instanceType,
  networkType,
  stepEvent,
  urnOf,
  type Engine,
} from "../../support/engine/fake-engine.js";
import type { FakeCloud } from "../../support/cloud/fake-openstack.js";

describe("the cluster service", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  let engine: Engine;
  let cloud: FakeCloud;
  beforeEach(async () => {
    // Settings of the user's own program, which describe no cluster.
    embedder = await Embedder.start("config: {}\n");
    ({ engine, cloud } = embedder);
  });
  afterEach(() => embedder.stop());
  const service = (): ListeningService => embedder.service();
  /** Skips preflight and verification, because neither settings nor outputs describe a cluster. */
  const bare = { preflight: false, verify: false };

  it("returns no state, fails for outputs and destroys nothing if the stack does not exist", async () => {
    assert.equal(await service().state("dev"), undefined);
    const { hint } = await fails(service().outputs("dev"), "STACK_NOT_FOUND");
    assert.match(hint, /^Create it with `stackadm up --stack dev`, or /);
    assert.deepEqual(await service().destroy("dev"), {
      clusters: ["dev"],
      held: false,
      deleted: [],
      kept: [],
    });
    assert.deepEqual(engine.operations(), []);
  });

  it("runs operations on one stack in sequence, also after a failed operation", async () => {
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

  it("changes nothing and lists the changes if `expectNoChanges` is set and changes are pending", async () => {
    const steps = [stepEvent("resourcePreEvent", { type: networkType, name: "net" })];
    engine.runs({ preview: { events: steps } });
    const expecting = { ...bare, expectNoChanges: true };
    const { message, exitCode } = await fails(service().up("dev", expecting), "UNEXPECTED_CHANGES");
    assert.match(
      message,
      /^No change was expected, but `up` would change:\n {2}create Network 'net'$/,
    );
    assert.equal(exitCode, 6);
    assert.deepEqual(engine.operations(), ["preview"]);
    engine.runs({});
    await service().up("dev", expecting);
    assert.deepEqual(engine.operations(), ["preview", "preview", "up"]);
  });

  it("cancels an operation that is stopped while it waits in the queue", async () => {
    const clusters = service();
    const stop = new AbortController();
    const first = clusters.preview("dev", bare);
    const second = fails(clusters.up("dev", { signal: stop.signal }), "CANCELLED");
    stop.abort();
    const { message } = await second;
    await first;
    assert.match(message, /before anything was changed/);
    assert.deepEqual(engine.operations(), ["preview"]);
  });

  it("needs no settings file for read operations if the caller passes settings", async () => {
    rmSync(join(embedder.directory, "Pulumi.dev.yaml"));
    const [clusters, given] = [service(), { settings: "config: {}\n" }];
    assert.equal(await clusters.state("dev", given), undefined);
    assert.deepEqual(await clusters.locks("dev", given), []);
    assert.deepEqual(await clusters.unlock("dev", { ...given, holders: [] }), []);
    engine.state({});
    engine.outputs({ kubeconfig: { value: "text", secret: true } });
    const masked = await clusters.outputs("dev", { ...given, secrets: "hidden" });
    assert.deepEqual(masked, { kubeconfig: "[secret]" });
    for (const look of [clusters.kubeconfig("dev", given), clusters.kubeconfigFile("dev", given)])
      await assert.rejects(look, ({ message }: Error) => !message.includes("Pulumi.dev.yaml"));
  });

  it("accepts settings as text, and keeps the project's settings file unchanged", async () => {
    await service().preview("dev", { ...bare, settings: "config:\n  it:word: given\n" });
    const work = join(engine.directory, "state", "stackadm", "work");
    const [folder = ""] = readdirSync(work);
    const copy = readFileSync(join(work, folder, "Pulumi.dev.yaml"), "utf8");
    assert.match(copy, /it:word: given/);
    assert.equal(readFileSync(join(engine.directory, "Pulumi.dev.yaml"), "utf8"), "config: {}\n");
  });

  it("processes 64 resources in parallel, unless an option or PULUMI_PARALLEL sets another number", async () => {
    const said = async (parallel?: number): Promise<string | undefined> => {
      const past = engine.calls().length;
      await service().preview("dev", { ...bare, ...(parallel !== undefined && { parallel }) });
      const call =
        engine
          .calls()
          .slice(past)
          .find((one) => one.startsWith("preview ")) ?? "";
      return /--parallel \d+/.exec(call)?.[0];
    };
    assert.equal(await said(), "--parallel 64");
    assert.equal(await said(3), "--parallel 3");
    const past = engine.calls().length;
    await embedder.service({ PULUMI_PARALLEL: "5" }).preview("dev", bare);
    assert.ok(!engine.calls().slice(past).join("\n").includes("--parallel"));
  });

  describe("after an interrupted run", () => {
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

    it("deletes and reports an incomplete network before the engine starts", async () => {
      const notes: string[] = [];
      await service().up("dev", { ...bare, onNote: (text) => notes.push(text) });
      assert.deepEqual(networks, []);
      assert.match(notes.join("\n"), /repaired what it left: Network 'net'\.$/m);
      assert.ok(engine.calls().findIndex((call) => call.startsWith("stack import")) >= 0);
      assert.deepEqual(engine.stateNow()?.deployment["pending_operations"], []);
    });

    it("keeps and reports an object that may be foreign, and continues", async () => {
      networks = [{ id: "half-made", name: "dev" }];
      const notes: string[] = [];
      await service().up("dev", { ...bare, onNote: (text) => notes.push(text) });
      assert.equal(networks.length, 1);
      assert.match(
        notes.join("\n"),
        /The network 'dev' \(half-made\) may come from .*: it is kept\./,
      );
    });

    const script = "command:remote:Command";
    const of = (type: string) => ({
      type,
      resource: { urn: urnOf(script, "init"), type: script, custom: true },
    });

    it("reports on refresh what `up` will repair, if the refresh loses no record", async () => {
      const again = [of("creating")];
      engine.state({ resources: [identity], pending_operations: again });
      const notes: string[] = [];
      await service().refresh("dev", { onNote: (text) => notes.push(text) });
      assert.match(notes.join("\n"), /unfinished: Command 'init'\. .*`stackadm up` repairs them/);
      assert.deepEqual(engine.operations(), ["refresh"]);
      assert.deepEqual(engine.stateNow()?.deployment["pending_operations"], again);
    });

    for (const [what, stopped] of [
      ["an unfinished creation in the cloud", [pending]],
      ["an interrupted script", [of("updating")]],
    ] as const)
      it(`refuses a refresh that would lose the record of ${what}`, async () => {
        engine.state({ resources: [identity], pending_operations: stopped });
        const { hint } = await fails(service().refresh("dev"), "FAILED");
        assert.match(hint, /stackadm up/);
        assert.deepEqual(engine.operations(), []);
        assert.deepEqual(engine.stateNow()?.deployment["pending_operations"], stopped);
      });

    it("changes nothing for a preview", async () => {
      await service().preview("dev", bare);
      assert.equal(networks.length, 1);
      assert.ok(engine.calls().every((call) => !call.startsWith("stack import")));
    });

    it("fails before the engine starts if the repair fails, and keeps the record for the next run", async () => {
      cloud.on("DELETE /network/networks/half-made", { status: 403, body: { message: "no" } });
      await assert.rejects(service().up("dev", bare), /no/);
      assert.deepEqual(engine.operations(), ["hold"]);
      assert.deepEqual(engine.stateNow()?.deployment["pending_operations"], [pending]);
    });
  });

  describe("after a script fails on a running machine", () => {
    const type = "command:remote:Command";
    const scripts = ["init", "join"].map((name) => ({
      urn: urnOf(type, name),
      type,
      custom: true,
      inputs: { update: "run" },
    }));
    const failed = stepEvent("resOpFailedEvent", { type, name: "init", op: "update" });
    const updates = (): unknown =>
      (engine.stateNow()?.deployment["resources"] as typeof scripts).map(
        ({ inputs }) => inputs.update,
      );

    it("makes the script run again, even with unchanged inputs", async () => {
      engine.state({ resources: scripts });
      engine.runs({ up: { events: [failed], code: 255, stderr: "error: no\n" } });
      await assert.rejects(service().up("dev", bare));
      const [init, join] = updates() as string[];
      assert.notEqual(init, "run");
      assert.equal(join, "run");
    });

    it("keeps a script unchanged that succeeded on a retry in the same run", async () => {
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

  describe("after Nova fails to create a server", () => {
    const urn = urnOf(instanceType, "vm");
    const provider = "error waiting for instance: unexpected state 'ERROR', wanted target 'ACTIVE'";
    const said = "Nova could not create the machine dev-0; ... is ERROR: No valid host was found.";
    const hook = `[SERVER_ERROR] ${said}`;
    const messageOf = async (...texts: string[]): Promise<string> => {
      const events = texts.map((text) => diagnostic(text, "error", urn));
      engine.runs({ up: { events, code: 255 } });
      return (await fails(service().up("dev", bare), "SERVER_ERROR")).message;
    };

    it("reports the error that the program's hook found", async () => {
      assert.equal(await messageOf(provider, hook), said);
    });

    it("reports the provider's error if the hook found none", async () => {
      assert.match(await messageOf(provider), /^Instance 'vm': Nova could not create the machine/);
    });
  });
});
