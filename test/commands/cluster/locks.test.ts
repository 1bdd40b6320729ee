import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import type { ClusterService } from "../../../automation/cluster/cluster-service.js";
import { processPlace } from "../../../base/process.js";
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
    const said = (pid: number): string =>
      `error: the stack is currently locked by 1 lock(s). Either wait ...\n  s3://bucket/.pulumi/locks/organization/it/dev/1.json: created by ann@elsewhere (pid ${pid}) at 2026-01-02T03:04:05Z\n`;
    engine.refuses({ "stack rename": said(1) });
    const holders = await service().locks("dev");
    assert.deepEqual(holders, ["process 1 of ann on elsewhere, since 2026-01-02T03:04:05Z"]);
    engine.refuses({ "stack rename": said(2) });
    await fails(service().unlock("dev", { holders }), "STACK_LOCKED");
    const cancelled = (): boolean => engine.calls().some((call) => call.startsWith("cancel"));
    assert.ok(!cancelled());
    engine.refuses({ "stack rename": said(1) });
    assert.deepEqual(await service().unlock("dev", { holders }), holders);
    assert.ok(cancelled());
  });
});
