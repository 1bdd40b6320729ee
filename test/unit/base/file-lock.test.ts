import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import {
  constants,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { withLock, type LockHolder } from "../../../base/file-lock.js";
import { referToSelf } from "../../../base/process-identity.js";

const own = referToSelf();

describe("base/file-lock", () => {
  let directory: string;
  let file: string;
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "stackadm-lock-"));
    file = join(directory, "nested", "lock");
  });
  afterEach(() => {
    rmSync(directory, { recursive: true });
  });

  /** Writes the lock file of a process. Default: this process. */
  const put = (holder: Partial<LockHolder>): void => {
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, JSON.stringify({ ...own, token: "other", purpose: "test", ...holder }));
  };
  /** Sets the time of the last heartbeat. */
  const age = (seconds: number): void => {
    const beat = new Date(Date.now() - seconds * 1_000);
    utimesSync(file, beat, beat);
  };

  it("is held while the work runs and released afterwards, even after a failure", async () => {
    await withLock(file, { purpose: "test" }, () => {
      assert.equal(existsSync(file), true);
      return Promise.resolve();
    });
    assert.equal(existsSync(file), false);
    await assert.rejects(
      withLock(file, { purpose: "test" }, () => Promise.reject(new Error("inner"))),
      /inner/,
    );
    assert.equal(existsSync(file), false);
  });

  it("refuses immediately, with holder and reason", async () => {
    await withLock(file, { purpose: "building a cloud" }, async () => {
      await assert.rejects(
        withLock(file, { purpose: "other" }, () => Promise.resolve()),
        new RegExp(`Process ${process.pid.toString()} holds this lock \\(building a cloud\\)`),
      );
    });
  });

  it("waits in order of arrival and reports the holder once", async () => {
    const order: string[] = [];
    let told = 0;
    const first = withLock(file, { purpose: "first" }, async () => {
      await new Promise((resolve) => setTimeout(resolve, 300));
      order.push("first");
    });
    const second = withLock(
      file,
      {
        purpose: "second",
        waitMs: 5000,
        onWait: (holder) => {
          told++;
          assert.equal(holder.purpose, "first");
        },
      },
      () => {
        order.push("second");
        return Promise.resolve();
      },
    );
    await Promise.all([first, second]);
    assert.deepEqual(order, ["first", "second"]);
    assert.equal(told, 1);
  });

  it("is awaited after a step of the clock, as after a suspension", async () => {
    const { now } = Date;
    try {
      const first = withLock(file, { purpose: "first" }, () => pause(600));
      const second = withLock(file, { purpose: "second", waitMs: 5_000 }, () => pause(1));
      Date.now = () => now() + 3_600_000;
      await Promise.all([first, second]);
    } finally {
      Date.now = now;
    }
  });

  it("replaces the lock of a process that has ended", async () => {
    put({ pid: spawnSync("true").pid, purpose: "dead" });
    await withLock(file, { purpose: "alive" }, () => {
      assert.match(readFileSync(file, "utf8"), /"alive"/);
      return Promise.resolve();
    });
  });

  it("replaces a lock whose process ID was reused", async () => {
    put({ started: "1", purpose: "old" });
    await withLock(file, { purpose: "new" }, () => Promise.resolve());
  });

  describe("of a process whose PID says nothing here", () => {
    const elsewhere: readonly [string, Partial<LockHolder>][] = [
      ["another PID namespace", { place: { boot: own.place?.boot ?? "", namespace: "pid:[1]" } }],
      ["another boot", { place: { boot: "other", namespace: own.place?.namespace ?? "" } }],
      ["another host", { host: "other" }],
      ["a system without /proc", { place: undefined, started: "" }],
    ];
    for (const [where, holder] of elsewhere) {
      it(`is respected while its heartbeat is fresh: ${where}`, async () => {
        put({ pid: spawnSync("true").pid, ...holder, purpose: "working elsewhere" });
        const refused = withLock(file, { purpose: "new" }, () => assert.fail("two have the lock"));
        await assert.rejects(refused, /Process \d+ on \S+ holds this lock \(working elsewhere\)/);
      });

      it(`is replaced if its heartbeat is old: ${where}`, async () => {
        put({ ...holder, purpose: "working elsewhere" });
        age(60);
        await withLock(file, { purpose: "new" }, () => Promise.resolve());
      });
    }

    it("is replaced during the wait, when the heartbeat becomes old", async () => {
      put({ host: "other" });
      age(29);
      await withLock(file, { purpose: "new", waitMs: 5_000 }, () => Promise.resolve());
    });
  });

  it("is respected after a suspension of this process, because the holder was suspended, too", async () => {
    put({ host: "other" });
    const options = { purpose: "new", waitMs: 8_000 };
    const waiting = withLock(file, options, () => assert.fail("two have the lock"));
    await new Promise((resolve) => setTimeout(resolve, 300));
    age(60);
    // Blocks this thread, like a suspension.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 6_000);
    await assert.rejects(waiting, /holds this lock/);
  }).timeout(20_000);

  it("stays if another process has replaced it while the work ran", async () => {
    await withLock(file, { purpose: "first" }, () => {
      rmSync(file);
      put({ host: "other", purpose: "second" });
      return Promise.resolve();
    });
    assert.match(readFileSync(file, "utf8"), /"second"/);
    assert.deepEqual(readdirSync(dirname(file)), ["lock"]);
  });

  it("has a heartbeat that never touches the lock of another process", async () => {
    const modified = (): number => statSync(file).mtimeMs;
    await withLock(file, { purpose: "first" }, async () => {
      age(60);
      const old = modified();
      await new Promise((resolve) => setTimeout(resolve, 5_500));
      assert.ok(modified() > old + 50_000);
      rmSync(file);
      put({ host: "other" });
      age(60);
      const others = modified();
      await new Promise((resolve) => setTimeout(resolve, 5_500));
      assert.equal(modified(), others);
    });
  }).timeout(20_000);

  it("sends each heartbeat to the file server immediately, because others read it there", async () => {
    await withLock(file, { purpose: "first" }, () => {
      const links = readdirSync("/proc/self/fd").map((name) => join("/proc/self/fd", name));
      const open = links.filter((link) => existsSync(link) && readlinkSync(link) === file);
      const flags = open.map((link) => readFileSync(link.replace("/fd/", "/fdinfo/"), "utf8"));
      const isSynchronous = (text: string): boolean => {
        const octal = /^flags:\s*(\d+)/m.exec(text)?.[1] ?? "";
        return (Number.parseInt(octal, 8) & constants.O_SYNC) === constants.O_SYNC;
      };
      assert.deepEqual(flags.map(isSynchronous), [true]);
      return Promise.resolve();
    });
  });

  it("fails with the code that the caller names", async () => {
    put({ host: "other" });
    const options = { purpose: "new", code: "STACK_LOCKED" } as const;
    await assert.rejects(
      withLock(file, options, () => assert.fail("two have the lock")),
      { code: "STACK_LOCKED", exitCode: 4 },
    );
  });

  it("is acquired by one process only, however many find a dead holder", async () => {
    const script = `
      const { withLock } = require(${JSON.stringify(join(__dirname, "../../../base/file-lock.ts"))});
      const { mkdirSync, rmdirSync } = require("node:fs");
      const work = async () => {
        mkdirSync(${JSON.stringify(join(directory, "inside"))});
        await new Promise((done) => setTimeout(done, 20));
        rmdirSync(${JSON.stringify(join(directory, "inside"))});
      };
      withLock(${JSON.stringify(file)}, { purpose: "one", waitMs: 30000 }, work).catch((error) => {
        console.error(error);
        process.exitCode = 1;
      });`;
    put({ pid: spawnSync("true").pid });
    const words = ["--import", "tsx", "--input-type=commonjs", "-e", script];
    const ended = await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const child = spawn(process.execPath, words, { stdio: ["ignore", "ignore", "pipe"] });
        let said = "";
        child.stderr.setEncoding("utf8").on("data", (part: string) => (said += part));
        await once(child, "close");
        return said;
      }),
    );
    assert.deepEqual(ended, ["", "", "", ""]);
    assert.deepEqual(readdirSync(dirname(file)), []);
  }).timeout(60_000);

  it("replaces a partially written lock file that is old", async () => {
    mkdirSync(dirname(file));
    writeFileSync(file, '{"pid": 1');
    await assert.rejects(withLock(file, { purpose: "new" }, () => Promise.resolve()));
    age(60);
    await withLock(file, { purpose: "new" }, () => Promise.resolve());
  });
});
