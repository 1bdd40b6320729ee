import assert from "node:assert/strict";
import type { ListeningService } from "../../../support/engine/listening-service.js";
import { Embedder, fails } from "../../../support/engine/embedder.js";
import {
  instanceType,
  stepEvent,
  urnOf,
  type Engine,
} from "../../../support/engine/fake-engine.js";
import type { FakeCloud } from "../../../support/cloud/fake-openstack.js";

const bare = { preflight: false, verify: false } as const;

describe("the attribution of objects after an interrupted run", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  let engine: Engine;
  let cloud: FakeCloud;
  const identity = {
    urn: urnOf("command:local:Command", "dev-identity"),
    type: "command:local:Command",
    custom: true,
    id: "made",
    outputs: { stdout: "0123456789ab" },
  };
  beforeEach(async () => {
    // Settings of the user's own program, which describe no cluster.
    embedder = await Embedder.start("config: {}\n");
    ({ engine, cloud } = embedder);
  });
  afterEach(() => embedder.stop());
  const service = (): ListeningService => embedder.service();

  describe("of a volume whose copies have the same name and mark", () => {
    const type = "openstack:blockstorage/volume:Volume";
    const inputs = { name: "dev-0-etcd" };
    const metadata = { "stackadm-cluster": "dev", "stackadm-identity": "0123456789ab" };
    /** Returns the time in `minutes` minutes. */
    const inMinutes = (minutes: number): string =>
      new Date(Date.now() + minutes * 60_000).toISOString();
    const stack = {
      urn: urnOf("pulumi:pulumi:Stack", "it-dev"),
      type: "pulumi:pulumi:Stack",
      created: inMinutes(-60),
    };
    let volumes: { id: string; name: string; metadata: object; created_at: string }[];
    let deleted: string[];
    let notes: string[];
    /** Creates a volume of this moment, and copies with dates half a minute before and after it. */
    const makeVolumes = (): void => {
      const made = { "half-made": 0, restored: -0.5, "restored later": 0.5 };
      volumes = Object.entries(made).map(([id, minutes]) => ({
        id,
        metadata,
        created_at: inMinutes(minutes),
        ...inputs,
      }));
    };
    beforeEach(() => {
      makeVolumes();
      [deleted, notes] = [[], []];
      cloud.on("GET /volumev3/volumes/detail", () => ({ body: { volumes } }));
      for (const { id } of volumes)
        cloud.on(`DELETE /volumev3/volumes/${encodeURIComponent(id)}`, () => {
          deleted.push(id);
          volumes = volumes.filter((one) => one.id !== id);
          return { status: 202 };
        });
      engine.state({ resources: [stack, identity] });
    });
    const listening = { ...bare, onNote: (text: string) => notes.push(text) };
    const up = () => service().up("dev", listening);
    const unproven = (): string[] =>
      notes.flatMap((note) => /^The volume '.*' \((.*)\) may come from/.exec(note)?.[1] ?? []);
    /** Sets the state that a killed run leaves. */
    const interruptedNow = (): void => {
      makeVolumes();
      const urn = urnOf(type, "dev-0-etcd");
      engine.state({
        manifest: { time: inMinutes(0) },
        resources: [stack, identity],
        pending_operations: [{ type: "creating", resource: { urn, type, custom: true, inputs } }],
      });
    };

    it("deletes only the volume that the killed run created, and keeps older and newer copies", async () => {
      engine.runs({ up: { then: "die" } });
      await fails(up(), "ENGINE_KILLED");
      interruptedNow();
      engine.runs({});
      await up();
      assert.deepEqual(deleted, ["half-made"]);
      assert.deepEqual(unproven(), ["restored", "restored later"]);
    });

    it("deletes no volume if the start of the interrupted run is unknown", async () => {
      interruptedNow();
      await up();
      assert.deepEqual([deleted, unproven().length], [[], 3]);
    });

    it("deletes only the volume of a create whose response was lost, and keeps older and newer copies", async () => {
      const failed = stepEvent("resOpFailedEvent", { type, name: "dev-0-etcd", inputs });
      engine.runs({ up: { events: [failed], code: 255, stderr: "error: 504\n" } });
      await assert.rejects(service().up("dev", { ...listening, onStep: makeVolumes }));
      assert.deepEqual(deleted, ["half-made"]);
      assert.deepEqual(unproven(), ["restored", "restored later"]);
    });
  });

  describe("of a server that may belong to a running cluster with an outdated state", () => {
    const inputs = { name: "dev-0" };
    const metadata = { "stackadm-cluster": "dev", "stackadm-identity": "0123456789ab" };
    const begun = stepEvent("resourcePreEvent", { type: instanceType, name: "dev-0", inputs });
    let servers: { id: string; name: string; metadata: object; created: string }[];
    beforeEach(() => {
      cloud.on("GET /compute/servers/detail", () => ({ body: { servers } }));
      cloud.on("DELETE /compute/servers/new", () => {
        servers = [];
        return { status: 204 };
      });
      servers = [];
      engine.state({ resources: [identity] });
    });
    /** Sets a state with a pending create of the server, and creates that server. */
    const inTheMaking = (): void => {
      const [created, urn] = [new Date().toISOString(), urnOf(instanceType, "dev-0")];
      const stack = { urn: urnOf("pulumi:pulumi:Stack", "it-dev"), type: "pulumi:pulumi:Stack" };
      const resource = { urn, type: instanceType, custom: true, inputs };
      engine.state({
        manifest: { time: created },
        resources: [{ ...stack, created }, identity],
        pending_operations: [{ type: "creating", resource }],
      });
      servers = [{ id: "new", ...inputs, metadata, created }];
      engine.runs({});
    };

    it("deletes the server that a killed run of this machine created", async () => {
      engine.runs({ up: { events: [begun], then: "die" } });
      await fails(service().up("dev", bare), "ENGINE_KILLED");
      inTheMaking();
      await service().up("dev", bare);
      assert.deepEqual(servers, []);
    });

    it("deletes the server of an unrecorded run, which may have been killed on another machine", async () => {
      inTheMaking();
      await service().up("dev", bare);
      assert.deepEqual(servers, []);
    });

    for (const [how, code] of [
      ["successfully", 0],
      ["with an error", 255],
    ] as const)
      it(`keeps the server if the recorded run ended ${how}, because the state is a copy`, async () => {
        engine.runs({ up: { events: [begun], code, stderr: code === 0 ? "" : "error: no\n" } });
        await service()
          .up("dev", bare)
          .catch(() => undefined);
        inTheMaking();
        const notes: string[] = [];
        await service().up("dev", { ...bare, onNote: (text) => notes.push(text) });
        assert.equal(servers.length, 1);
        assert.match(notes.join("\n"), /^The server 'dev-0' \(new\) may come from .*it is kept/m);
      });
  });
});
