import assert from "node:assert/strict";
import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { heartbeatLimits } from "../../../../automation/engine/owner-heartbeat.js";
import { runOperation } from "../../../../automation/engine/run-engine.js";
import type { OperationRequest } from "../../../../automation/engine/worker-messages.js";
import type { OwnerRecord } from "../../../../automation/pulumi/locks/owner-record.js";
import { until } from "../../../engine/support/until.js";
import { Engine, networkType, stepEvent } from "../../../support/engine/fake-engine.js";
import { Embedder, fails } from "../../../support/engine/embedder.js";

const tag = "stackadm:heartbeat";
const locks = ".pulumi/locks/organization/it/dev";
const events = [stepEvent("resourcePreEvent", { type: networkType, name: "net" })];

const recordIn = (engine: Engine): OwnerRecord | undefined => {
  const text = engine.readTag(tag);
  return text === undefined ? undefined : (JSON.parse(text) as OwnerRecord);
};
const tagCommands = (engine: Engine): string[] =>
  engine.calls().filter((call) => call.startsWith("stack tag"));

describe("the heartbeat of an operation with an owner", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  let engine: Engine;
  let lock: string;
  beforeEach(async () => {
    embedder = await Embedder.start("config: {}\n");
    ({ engine } = embedder);
    engine.state({});
    lock = join(engine.directory, "backend", locks, "lock-1.json");
  });
  afterEach(() => embedder.stop());
  const bare = { preflight: false, verify: false } as const;

  it("is stored in the backend while the engine has the lock", async () => {
    engine.runs({ up: { events, lock, then: "wait" } });
    const stop = new AbortController();
    const service = embedder.service({ STACKADM_OWNER: "prod" });
    const stopped = fails(service.up("dev", { ...bare, signal: stop.signal }), "CANCELLED");
    await until("a heartbeat is stored", () => recordIn(engine) !== undefined, 30);
    const record = recordIn(engine);
    const expected = { owner: "prod", lock: "lock-1", run: "", beat: 1 };
    assert.deepEqual({ ...record, run: "" }, expected);
    assert.match(record?.run ?? "", /^[0-9a-f-]{36}$/);
    stop.abort();
    await stopped;
  });

  it("is not stored without an owner, by a preview, and without a lock", async () => {
    engine.runs({ up: { events, lock } });
    await embedder.service().up("dev", bare);
    engine.runs({ preview: { events, lock } });
    await embedder.service({ STACKADM_OWNER: "prod" }).preview("dev", bare);
    assert.deepEqual(tagCommands(engine), []);
    engine.runs({ up: { events } });
    await embedder.service({ STACKADM_OWNER: "prod" }).up("dev", bare);
    assert.equal(recordIn(engine), undefined);
  });
});

describe("an engine whose heartbeat is lost", function () {
  this.timeout(60_000);
  let engine: Engine;
  beforeEach(() => {
    engine = new Engine();
    engine.state({});
    writeFileSync(join(engine.directory, "Pulumi.yaml"), "name: it\nruntime: nodejs\n");
    writeFileSync(join(engine.directory, "index.js"), "module.exports = async () => ({});");
  });
  afterEach(() => {
    engine.remove();
  });
  const start = (limits: Partial<typeof heartbeatLimits>): Promise<void> => {
    const backend = join(engine.directory, "backend");
    const lock = join(backend, locks, "lock-1.json");
    engine.runs({ up: { events, lock, then: "hang" } });
    const request: OperationRequest = {
      type: "start",
      operation: "up",
      stack: "dev",
      project: "it",
      workDirectory: engine.directory,
      program: join(engine.directory, "index.js"),
      heartbeat: {
        owner: "prod",
        backend: pathToFileURL(backend).href,
        ...heartbeatLimits,
        ...limits,
      },
    };
    const env = { ...engine.environment(), HOME: engine.directory };
    return runOperation(request, { env, cwd: engine.directory, onEvent: () => undefined });
  };
  /** Returns whether the engine was killed. A killed process may be a zombie for a moment. */
  const isKilled = (): boolean => {
    const pid = readFileSync(join(engine.directory, "pid"), "utf8");
    const status = join("/proc", pid, "status");
    return !existsSync(status) || /^State:\s+[XZ]/m.test(readFileSync(status, "utf8"));
  };

  it("is killed if another operation claims the stack", async () => {
    const killed = fails(start({ interval: 100 }), "ENGINE_KILLED");
    await until("a heartbeat is stored", () => (recordIn(engine)?.beat ?? 0) > 1, 30);
    // A heartbeat that began before the claim may replace the claim, so the claim is repeated.
    const claim = setInterval(() => {
      engine.tag(tag, JSON.stringify({ owner: "prod", lock: "lock-1", run: "another", beat: 0 }));
    }, 20);
    const { message, exitCode } = await killed.finally(() => {
      clearInterval(claim);
    });
    assert.match(message, /^The engine was killed, because another operation of owner 'prod'/);
    assert.equal(exitCode, 1);
    await until("the engine is killed", isKilled, 10);
  });

  it("is killed if the backend does not store heartbeats for the lease", async () => {
    const killed = fails(start({ interval: 100, retry: 50, lease: 1_500 }), "ENGINE_KILLED");
    await until("a heartbeat is stored", () => recordIn(engine) !== undefined, 30);
    engine.refuses({ "stack tag": "error: connection refused\n" });
    const { message } = await killed;
    assert.match(message, /no heartbeat of owner 'prod' .* for 1\.5 s \(.*connection refused\)/);
    await until("the engine is killed", isKilled, 10);
  });

  it("is killed with its process if the process does not respond", async () => {
    const killed = fails(start({ interval: 100, retry: 50, lease: 1_500 }), "ENGINE_KILLED");
    await until("a heartbeat is stored", () => recordIn(engine) !== undefined, 30);
    const pid = readFileSync(join(engine.directory, "pid"), "utf8");
    const [, worker = ""] =
      /^PPid:\s+(\d+)/m.exec(readFileSync(join("/proc", pid, "status"), "utf8")) ?? [];
    process.kill(Number(worker), "SIGSTOP");
    const { message } = await killed;
    assert.match(
      message,
      /no heartbeat of owner 'prod' .* for 1\.5 s \(its process does not respond/,
    );
    await until("the engine is killed", isKilled, 10);
  });

  it("stays if its command line is blocked for longer than the lease, but not its process", async () => {
    const limits = { interval: 500, retry: 50, lease: 2_500 };
    let isKilled = false;
    const work = start(limits).catch(() => (isKilled = true));
    await until("heartbeats are stored", () => tagCommands(engine).length > 2, 30);
    // Blocks this thread for longer than the lease and the time to respond.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 13_500);
    const { length } = tagCommands(engine);
    await until("more heartbeats are stored", () => tagCommands(engine).length > length + 8, 30);
    assert.equal(isKilled, false);
    engine.refuses({ "stack tag": "error: connection refused\n" });
    await work;
  });
});
