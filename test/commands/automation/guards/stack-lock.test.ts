import assert from "node:assert/strict";
import { spawn, spawnSync, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { dirname, join } from "node:path";
import type { ListeningService } from "../../../support/engine/listening-service.js";
import { recordEngine } from "../../../../automation/pulumi/locks/lock-holders.js";
import { Embedder, fails } from "../../../support/engine/embedder.js";
import type { Engine } from "../../../support/engine/fake-engine.js";

describe("the locks of stacks", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  let engine: Engine;
  beforeEach(async () => {
    // Settings of the user's own program, which describe no cluster.
    embedder = await Embedder.start("config: {}\n");
    ({ engine } = embedder);
  });
  afterEach(() => embedder.stop());
  const service = (): ListeningService => embedder.service();
  const lock = (pid: number, host = hostname(), since = new Date(0), name = "lock"): void => {
    const folder = join(engine.directory, "backend", ".pulumi/locks/organization/it/dev");
    mkdirSync(folder, { recursive: true });
    const timestamp = since.toISOString();
    const text = JSON.stringify({ pid, username: "ann", hostname: host, timestamp });
    writeFileSync(join(folder, `${name}.json`), text);
  };
  const bare = { preflight: false, verify: false } as const;
  /** Runs an `up` whose engine is killed at once; returns the engine's process ID. */
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

  it("are removed and reported if their engine was started here and has ended", async () => {
    const pid = await killed();
    lock(pid, hostname(), new Date());
    const heard: string[] = [];
    await service().up("dev", { ...bare, onNote: (text) => heard.push(text) });
    assert.match(heard.join("\n"), new RegExp(`^Removed the lock of process ${pid} of ann`, "m"));
    assert.deepEqual(await service().unlock("dev"), []);
    assert.deepEqual(notes(), []);
  });

  describe("of an engine that outlives its command", () => {
    const children: ChildProcess[] = [];
    afterEach(() => {
      for (const child of children.splice(0)) child.kill("SIGKILL");
    });
    const start = async (): Promise<ChildProcess & { readonly pid: number }> => {
      const child = spawn("sleep", ["60"]);
      children.push(child);
      await once(child, "spawn");
      return child as ChildProcess & { readonly pid: number };
    };
    const end = async (child: ChildProcess): Promise<void> => {
      child.kill("SIGKILL");
      await once(child, "exit");
    };
    /** Starts processes that stand for an engine and its command line. */
    const both = async (): Promise<readonly (ChildProcess & { readonly pid: number })[]> => {
      const [left, client] = [await start(), await start()];
      recordEngine(dirname(embedder.kubeconfig()), left.pid, client.pid);
      lock(left.pid, hostname(), new Date());
      return [left, client];
    };
    const waiting = /^The last command was killed.*\(process \d+\).*waiting/;

    it("delay the next operation until the engine has ended, which is reported once", async () => {
      engine.state({});
      const [left, client] = await both();
      assert.ok(left && client);
      await fails(service().up("dev", bare), "STACK_LOCKED");
      await end(client);
      const heard: string[] = [];
      const onNote = (text: string): void => {
        heard.push(text);
        if (waiting.test(text)) setTimeout(() => left.kill("SIGKILL"), 700);
      };
      await service().up("dev", { ...bare, onNote });
      assert.equal(heard.filter((text) => waiting.test(text)).length, 1);
      assert.match(
        heard.join("\n"),
        new RegExp(`^Removed the lock of process ${left.pid} of ann`, "m"),
      );
      assert.deepEqual(notes(), []);
    });

    it("fail the next operation immediately if another process has a lock too", async () => {
      const [, client] = await both();
      assert.ok(client);
      await end(client);
      lock(1, "elsewhere", new Date(), "other");
      await fails(service().up("dev", bare), "STACK_LOCKED");
    });

    it("stop delaying an operation when the caller cancels it", async () => {
      const [, client] = await both();
      assert.ok(client);
      await end(client);
      const stop = new AbortController();
      const options = {
        ...bare,
        signal: stop.signal,
        onNote: () => {
          stop.abort();
        },
      };
      await fails(service().up("dev", options), "CANCELLED");
      assert.deepEqual(engine.operations(), []);
    });
  });

  it("stay if their time, host or process ID does not match the killed engine", async () => {
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

  describe("in a remote backend", () => {
    beforeEach(() => {
      embedder.backend = "s3://bucket";
    });

    it("are removed if their engine was started here and has ended, after a query of the owner", async () => {
      const pid = await killed();
      engine.refuses({ "stack rename": said(pid, hostname(), now()) });
      const heard: string[] = [];
      await service().up("dev", { ...bare, onNote: (text) => heard.push(text) });
      assert.equal(calls("cancel"), 1);
      assert.match(heard.join("\n"), new RegExp(`^Removed the lock of process ${pid} of ann`, "m"));
    });

    it("stay and fail the operation if another process has one, even after a killed engine", async () => {
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

    it("are not queried if every earlier engine finished or was refused", async () => {
      engine.state({});
      await service().up("dev", bare);
      engine.runs({ up: { code: 255, stderr: said(1) } });
      await fails(service().up("dev", bare), "STACK_LOCKED");
      assert.deepEqual(notes(), []);
      await fails(service().up("dev", bare), "STACK_LOCKED");
      assert.equal(calls("stack rename"), 0);
    });

    it("are queried once after an engine that failed, because it may have left its lock", async () => {
      engine.state({});
      engine.runs({ up: { code: 255, stderr: "error: no\n" } });
      await assert.rejects(service().up("dev", bare));
      engine.runs({});
      for (let time = 0; time < 2; time += 1) await service().up("dev", bare);
      assert.deepEqual([calls("stack rename"), calls("cancel"), notes()], [1, 0, []]);
    });

    it("fail the operation with the backend's error if their owner cannot be read", async () => {
      await killed();
      engine.refuses({ "stack rename": "error: dial tcp: connection refused\n" });
      await assert.rejects(service().up("dev", bare), (error) => {
        assert.match(String(error), /Cannot read which process .*dial tcp: connection refused/);
        return true;
      });
    });
  });

  it("need a confirmed owner before `unlock` removes them, if no killed engine matches", async () => {
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

  it("stay if their stack has resources but no cluster", async () => {
    lock(spawnSync("true").pid);
    const type = "aws:s3/bucket:Bucket";
    engine.state({ resources: [{ urn: `urn:pulumi:dev::it::${type}::theirs`, type, id: "b" }] });
    const holders = await service().locks("dev");
    await fails(service().unlock("dev", { holders }), "INVALID_CONFIG");
    assert.deepEqual(await service().locks("dev"), holders);
  });

  it("fail an operation before any change if another host has them", async () => {
    lock(1, "elsewhere");
    const { exitCode, message } = await fails(
      service().up("dev", { preflight: false, verify: false }),
      "STACK_LOCKED",
    );
    assert.equal(exitCode, 4);
    assert.match(message, /process 1 of ann on elsewhere, since 1970/);
    assert.deepEqual(engine.operations(), []);
  });

  it("are read through the engine in a remote backend, and removed only for the confirmed owner", async () => {
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
