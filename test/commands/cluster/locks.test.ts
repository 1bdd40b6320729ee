import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import type { ClusterService } from "../../../automation/cluster/cluster-service.js";
import { Embedder, fails } from "../../support/embedder.js";
import type { Engine } from "../../support/engine.js";

describe("the locks of stacks", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  let engine: Engine;
  beforeEach(async () => {
    // Settings of a program of its own, which describe no cluster.
    embedder = await Embedder.start("config: {}\n");
    ({ engine } = embedder);
  });
  afterEach(() => embedder.stop());
  const service = (): ClusterService => embedder.service();
  const lock = (pid: number, host = hostname(), since = new Date(0)): void => {
    const folder = join(engine.directory, "backend", ".pulumi/locks/organization/it/dev");
    mkdirSync(folder, { recursive: true });
    const timestamp = since.toISOString();
    const text = JSON.stringify({ pid, username: "ann", hostname: host, timestamp });
    writeFileSync(join(folder, "lock.json"), text);
  };
  const bare = { preflight: false, verify: false } as const;
  /** An `up` whose engine is killed before it says anything: its number. */
  const killed = async (): Promise<number> => {
    engine.state({});
    engine.runs({ up: { then: "die" } });
    await fails(service().up("dev", bare), "ENGINE_KILLED");
    engine.runs({});
    return Number(readFileSync(join(engine.directory, "pid"), "utf8"));
  };
  const said = (pid: number, host = "elsewhere", since = "2026-01-02T03:04:05Z"): string =>
    `error: the stack is currently locked by 1 lock(s). Either wait ...\n  s3://bucket/.pulumi/locks/organization/it/dev/1.json: created by ann@${host} (pid ${pid}) at ${since}\n`;
  const now = (): string => new Date().toISOString().replace(/\.\d+Z/, "Z");
  const calls = (beginning: string): number =>
    engine.calls().filter((call) => call.startsWith(beginning)).length;
  const notes = (): string[] => readdirSync(join(dirname(embedder.kubeconfig()), "engines"));

  it("removes that of an engine which it started and which is gone, and says whose it was", async () => {
    const pid = await killed();
    lock(pid, hostname(), new Date());
    const heard: string[] = [];
    await service().up("dev", { ...bare, onNote: (text) => heard.push(text) });
    assert.match(heard.join("\n"), new RegExp(`^The lock of process ${pid} of ann`, "m"));
    assert.deepEqual(await service().unlock("dev"), []);
    assert.deepEqual(notes(), []);
  });

  it("leaves one that such an engine cannot have taken: of another time, host or number", async () => {
    const pid = await killed();
    const later = new Date(Date.now() + 600_000);
    for (const [number, host, since] of [
      [pid, hostname(), new Date(0)],
      [pid, hostname(), later],
      [pid, "elsewhere", new Date()],
      [pid + 1, hostname(), new Date()],
    ] as const) {
      lock(number, host, since);
      await fails(service().up("dev", bare), "STACK_LOCKED");
    }
  });

  describe("in a backend that is no directory", () => {
    beforeEach(() => {
      embedder.backend = "s3://bucket";
    });

    it("removes that of an engine which it started and which is gone, after asking whose it is", async () => {
      const pid = await killed();
      engine.refuses({ "stack rename": said(pid, hostname(), now()) });
      const heard: string[] = [];
      await service().up("dev", { ...bare, onNote: (text) => heard.push(text) });
      assert.equal(calls("cancel"), 1);
      assert.match(heard.join("\n"), new RegExp(`^The lock of process ${pid} of ann`, "m"));
    });

    it("refuses under anybody else's, whoever was killed here", async () => {
      const pid = await killed();
      for (const who of [said(pid, "elsewhere", now()), said(pid + 1, hostname(), now())]) {
        engine.refuses({ "stack rename": who });
        await fails(service().up("dev", bare), "STACK_LOCKED");
      }
      const both = said(pid, hostname(), now()) + said(1, "elsewhere", now());
      engine.refuses({ "stack rename": both });
      await fails(service().up("dev", bare), "STACK_LOCKED");
      assert.equal(calls("cancel"), 0, "it would take both");
    });

    it("asks nobody where every engine came to its end, or was refused", async () => {
      engine.state({});
      await service().up("dev", bare);
      engine.runs({ up: { code: 255, stderr: said(1) } });
      await fails(service().up("dev", bare), "STACK_LOCKED");
      assert.deepEqual(notes(), []);
      await fails(service().up("dev", bare), "STACK_LOCKED");
      assert.equal(calls("stack rename"), 0);
    });

    it("asks once after an engine that failed: it may have kept its lock", async () => {
      engine.state({});
      engine.runs({ up: { code: 255, stderr: "error: no\n" } });
      await assert.rejects(service().up("dev", bare));
      engine.runs({});
      for (let time = 0; time < 2; time += 1) await service().up("dev", bare);
      assert.deepEqual([calls("stack rename"), calls("cancel"), notes()], [1, 0, []]);
    });

    it("says that it cannot be asked, and not that somebody holds it", async () => {
      await killed();
      engine.refuses({ "stack rename": "error: dial tcp: connection refused\n" });
      await assert.rejects(service().up("dev", bare), (error) => {
        assert.match(String(error), /cannot be asked: .*dial tcp: connection refused/);
        return true;
      });
    });
  });

  it("removes one that nobody noted only for who was shown it", async () => {
    const { pid } = spawnSync("true");
    lock(pid);
    await fails(service().refresh("dev"), "STACK_LOCKED");
    await fails(service().unlock("dev"), "STACK_LOCKED");
    const holders = await service().locks("dev");
    assert.match(holders.join(), new RegExp(`^process ${pid} of ann on .*, since 1970`));
    lock(pid + 1);
    await fails(service().unlock("dev", { holders }), "STACK_LOCKED");
    lock(pid);
    assert.deepEqual(await service().unlock("dev", { holders }), holders);
    await service().refresh("dev");
  });

  it("refuses under that of another host before it touches anything", async () => {
    lock(1, "elsewhere");
    const { exitCode, message } = await fails(
      service().up("dev", { preflight: false, verify: false }),
      "STACK_LOCKED",
    );
    assert.equal(exitCode, 4);
    assert.match(message, /process 1 of ann on elsewhere, since 1970/);
    assert.deepEqual(engine.operations(), []);
  });

  it("lets the engine say who holds a backend that is no directory, and cancels only that", async () => {
    embedder.backend = "s3://bucket";
    assert.deepEqual(await service().locks("dev"), []);
    assert.deepEqual(await service().unlock("dev", { holders: [] }), []);
    engine.refuses({ "stack rename": said(1) });
    const holders = await service().locks("dev");
    assert.deepEqual(holders, ["process 1 of ann on elsewhere, since 2026-01-02T03:04:05Z"]);
    engine.refuses({ "stack rename": said(2) });
    await fails(service().unlock("dev", { holders }), "STACK_LOCKED");
    assert.equal(calls("cancel"), 0);
    engine.refuses({ "stack rename": said(1) });
    assert.deepEqual(await service().unlock("dev", { holders }), holders);
    assert.equal(calls("cancel"), 1);
  });
});
