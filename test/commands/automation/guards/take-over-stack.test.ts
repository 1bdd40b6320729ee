import assert from "node:assert/strict";
import { existsSync, mkdirSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { StackOperation } from "../../../../automation/engine/operation-context.js";
import type { OperationEventListener } from "../../../../automation/engine/operation-events.js";
import { takeOverStack } from "../../../../automation/guards/take-over-stack.js";
import { recordEngine } from "../../../../automation/pulumi/locks/lock-holders.js";
import type { OwnerRecord } from "../../../../automation/pulumi/locks/owner-record.js";
import { withLock } from "../../../../base/file-lock.js";
import { Embedder, fails } from "../../../support/engine/embedder.js";

const tag = "stackadm:heartbeat";
const bare = { preflight: false, verify: false } as const;
const quick = { unchanged: 200, poll: 20, settle: 20 };

describe("a stack with the lock of a killed operation", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  let heard: string[];
  beforeEach(async () => {
    embedder = await Embedder.start("config: {}\n");
    embedder.engine.state({});
    heard = [];
  });
  afterEach(() => embedder.stop());

  const lockFile = (id: string): string =>
    join(embedder.directory, "backend", ".pulumi/locks/organization/it/dev", `${id}.json`);
  const lock = (id: string, pid = 1, host = "runner"): void => {
    mkdirSync(dirname(lockFile(id)), { recursive: true });
    const timestamp = new Date().toISOString();
    writeFileSync(
      lockFile(id),
      JSON.stringify({ pid, username: "ann", hostname: host, timestamp }),
    );
  };
  const store = (changes: Partial<OwnerRecord> = {}): void => {
    const record = { owner: "prod", lock: "lock-1", run: "run-1", beat: 4, ...changes };
    embedder.engine.tag(tag, JSON.stringify(record));
  };
  const stored = (): OwnerRecord => JSON.parse(embedder.engine.readTag(tag) ?? "{}") as OwnerRecord;
  const calls = (beginning: string): number =>
    embedder.engine.calls().filter((call) => call.startsWith(beginning)).length;
  const hear: OperationEventListener = (event) => {
    if (event.type === "diagnostic") heard.push(event.text);
  };
  const operation = (signal?: AbortSignal): StackOperation => {
    const { backend, engine, directory: projectDirectory } = embedder;
    const service = { env: engine.environment(), backend, projectDirectory };
    return new StackOperation(service, "dev", { signal }, hear);
  };
  const takeOver = (owner = "prod", limits = quick, signal?: AbortSignal): Promise<void> =>
    takeOverStack(operation(signal), owner, limits);
  const up = (owner?: string): Promise<unknown> =>
    embedder.service({ STACKADM_OWNER: owner }).up("dev", bare);
  /** Runs `change` every 20 ms until `work` has ended. */
  const during = async (work: Promise<unknown>, change: () => void): Promise<void> => {
    const timer = setInterval(change, 20);
    await work.finally(() => {
      clearInterval(timer);
    });
  };

  it("is taken over by the same owner after a time without a heartbeat", async () => {
    lock("lock-1");
    store();
    const began = performance.now();
    await takeOver();
    assert.ok(performance.now() - began >= quick.unchanged);
    assert.ok(!existsSync(lockFile("lock-1")));
    const { run, ...claim } = stored();
    assert.deepEqual(claim, { owner: "prod", lock: "lock-1", beat: 0 });
    assert.notEqual(run, "run-1");
    const [waits = "", takes = "", ...others] = heard;
    assert.match(
      waits,
      /^Process 1 of ann on runner, since .* holds this stack for the same owner 'prod': waiting 0\.2 s/,
    );
    assert.match(takes, /^Took the stack over from process 1 of ann on runner, since .*'prod'/);
    assert.deepEqual(others, []);
    await up("prod");
    assert.deepEqual(embedder.engine.operations(), ["up"]);
  });

  it("is taken over although the backend fails for a part of the wait", async () => {
    lock("lock-1");
    store();
    const work = takeOver("prod", { ...quick, unchanged: 4_000 });
    // The operation has read the record before it reports the wait.
    while (heard.length === 0) await pause(5);
    embedder.engine.refuses({ "stack tag": "error: connection refused\n" });
    await pause(1_500);
    rmSync(join(embedder.engine.directory, "refusals"), { recursive: true });
    await work;
    assert.ok(!existsSync(lockFile("lock-1")));
  });

  it("stays locked if the backend fails at the end of the wait", async () => {
    lock("lock-1");
    store();
    setTimeout(() => {
      embedder.engine.refuses({ "stack tag": "error: connection refused\n" });
    }, 1_000);
    const { message } = await fails(takeOver("prod", { ...quick, unchanged: 2_000 }), "FAILED");
    assert.match(message, /The tags of the stack cannot be read: .*connection refused/);
    assert.ok(existsSync(lockFile("lock-1")));
  });

  it("stays locked for another owner, at once and without a change", async () => {
    lock("lock-1");
    store();
    const before = embedder.engine.readTag(tag);
    const { exitCode } = await fails(up("staging"), "STACK_LOCKED");
    assert.equal(exitCode, 4);
    await takeOver("staging");
    assert.ok(existsSync(lockFile("lock-1")));
    assert.equal(embedder.engine.readTag(tag), before);
    assert.deepEqual([heard, embedder.engine.operations()], [[], []]);
  });

  it("stays locked without an owner, and its tags are not read", async () => {
    lock("lock-1");
    store();
    await fails(up(), "STACK_LOCKED");
    assert.equal(calls("stack tag"), 0);
  });

  it("stays locked for the same owner while heartbeats are stored", async () => {
    lock("lock-1");
    let beat = 4;
    store();
    const work = fails(takeOver("prod", { ...quick, unchanged: 20_000 }), "STACK_LOCKED");
    await during(work, () => {
      store({ beat: (beat += 1) });
    });
    assert.ok(existsSync(lockFile("lock-1")));
    assert.equal(calls("stack tag set"), 0, "the stack was claimed");
  });

  it("stays locked if the lock is not that of the record", async () => {
    lock("lock-2");
    store();
    await takeOver();
    await fails(up("prod"), "STACK_LOCKED");
    assert.ok(existsSync(lockFile("lock-2")));
    assert.deepEqual(heard, []);
  });

  it("stays locked if another process has a lock, too", async () => {
    lock("lock-1");
    lock("lock-2", 2);
    store();
    await takeOver();
    await fails(up("prod"), "STACK_LOCKED");
    assert.ok(existsSync(lockFile("lock-1")) && existsSync(lockFile("lock-2")));
  });

  it("stays locked if another process takes a lock during the wait", async () => {
    lock("lock-1");
    store();
    setTimeout(lock, 100, "lock-2", 2);
    const { message } = await fails(takeOver(), "STACK_LOCKED");
    assert.match(message, /process 2 of ann/);
    assert.ok(existsSync(lockFile("lock-1")) && existsSync(lockFile("lock-2")));
  });

  it("is taken over by only one of two operations of the same owner", async () => {
    lock("lock-1");
    store();
    const work = fails(takeOver("prod", { ...quick, settle: 500 }), "STACK_LOCKED");
    await during(work, () => {
      if (stored().run !== "run-1") store({ run: "other-claim", beat: 0 });
    });
    assert.ok(existsSync(lockFile("lock-1")));
    assert.equal(stored().run, "other-claim");
  });

  it("is taken over by only one of two operations, also if a claim is stored late", async () => {
    lock("lock-1");
    store();
    const removal = join(dirname(embedder.kubeconfig()), "unlock.lock");
    let work: Promise<unknown> = Promise.resolve();
    await withLock(removal, { purpose: "slow" }, async () => {
      work = fails(takeOver(), "STACK_LOCKED");
      // The claim was read before its operation waits for the lock on removals.
      while (embedder.engine.readTag(tag)?.includes('"beat":0') !== true) await pause(5);
      const read = calls("stack tag get");
      while (calls("stack tag get") <= read) await pause(5);
      await pause(1_000);
      store({ run: "late-claim", beat: 0 });
    });
    await work;
    assert.ok(existsSync(lockFile("lock-1")));
    assert.equal(stored().run, "late-claim");
  });

  it("is not taken over from an engine that runs on this machine", async () => {
    const directory = dirname(embedder.kubeconfig());
    const forget = recordEngine(directory, process.pid);
    lock("lock-1", process.pid, hostname());
    store();
    await takeOver();
    await fails(up("prod"), "STACK_LOCKED");
    assert.ok(existsSync(lockFile("lock-1")));
    assert.deepEqual(heard, []);
    forget();
  });

  it("is not claimed if the operation ends during the wait", async () => {
    lock("lock-1");
    store();
    const work = takeOver("prod", { ...quick, unchanged: 20_000 });
    setTimeout(() => {
      rmSync(lockFile("lock-1"));
    }, 100);
    await work;
    assert.equal(stored().run, "run-1");
    assert.equal(calls("stack tag set"), 0);
  });

  it("is watched by an `up` of the same owner, which continues when the lock is released", async () => {
    lock("lock-1");
    store();
    const onNote = (text: string): void => {
      heard.push(text);
      if (/waiting 180 s/.test(text)) rmSync(lockFile("lock-1"));
    };
    await embedder.service({ STACKADM_OWNER: "prod" }).up("dev", { ...bare, onNote });
    assert.match(heard[0] ?? "", /holds this stack for the same owner 'prod': waiting 180 s/);
    assert.deepEqual(embedder.engine.operations(), ["up"]);
  });

  it("stays locked if the user stops the wait", async () => {
    lock("lock-1");
    store();
    const stop = new AbortController();
    setTimeout(() => {
      stop.abort();
    }, 100);
    await assert.rejects(takeOver("prod", { ...quick, unchanged: 20_000 }, stop.signal), {
      name: "AbortError",
    });
    assert.ok(existsSync(lockFile("lock-1")));
  });

  it("is taken over in a remote backend, where the engine removes the lock", async () => {
    embedder.backend = "s3://bucket";
    const text = `error: the stack is currently locked by 1 lock(s).\n  s3://bucket/.pulumi/locks/organization/it/dev/lock-1.json?region=eu: created by ann@runner (pid 1) at 2026-01-02T03:04:05Z\n`;
    embedder.engine.refuses({ "stack rename": text });
    store({ lock: "lock-2" });
    await takeOver();
    assert.equal(calls("cancel"), 0, "the lock is not that of the record");
    store();
    await takeOver();
    assert.equal(calls("cancel"), 1);
    assert.match(heard.at(-1) ?? "", /^Took the stack over from process 1 of ann on runner/);
  });

  it("is not read in Pulumi Cloud, where an owner has no effect", async () => {
    embedder.backend = "https://api.pulumi.com";
    const notes: string[] = [];
    const service = embedder.service({ STACKADM_OWNER: "prod" });
    await service.up("dev", { ...bare, onNote: (text) => notes.push(text) });
    assert.ok(notes.includes("STACKADM_OWNER has no effect with Pulumi Cloud."));
    assert.equal(calls("stack tag"), 0);
  });

  it("refuses a name that is not valid before anything else", async () => {
    const { message } = await fails(up("two words"), "INVALID_USAGE");
    assert.match(message, /^STACKADM_OWNER: "two words" is not the name of an owner\./);
    assert.deepEqual(embedder.engine.operations(), []);
  });
});
