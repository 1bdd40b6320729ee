import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withLock } from "../../../base/file-lock.js";

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

  it("replaces the lock of a process that has ended", async () => {
    const dead = spawnSync("true").pid;
    writeFileSync(
      join(directory, "lock"),
      JSON.stringify({ pid: dead, started: "1", purpose: "dead" }),
    );
    await withLock(join(directory, "lock"), { purpose: "alive" }, () => {
      assert.match(readFileSync(join(directory, "lock"), "utf8"), /"alive"/);
      return Promise.resolve();
    });
  });

  it("replaces a lock whose process ID was reused", async () => {
    writeFileSync(
      join(directory, "lock"),
      JSON.stringify({ pid: process.pid, started: "1", purpose: "old" }),
    );
    await withLock(join(directory, "lock"), { purpose: "new" }, () => Promise.resolve());
  });

  it("is acquired by one process only, however many find a dead holder", async () => {
    const lock = join(directory, "lock");
    const script = `
      const { withLock } = require(${JSON.stringify(join(__dirname, "../../../base/file-lock.ts"))});
      const { mkdirSync, rmdirSync } = require("node:fs");
      const work = async () => {
        mkdirSync(${JSON.stringify(join(directory, "inside"))});
        await new Promise((done) => setTimeout(done, 20));
        rmdirSync(${JSON.stringify(join(directory, "inside"))});
      };
      withLock(${JSON.stringify(lock)}, { purpose: "one", waitMs: 30000 }, work).catch((error) => {
        console.error(error);
        process.exitCode = 1;
      });`;
    const dead = spawnSync("true").pid;
    writeFileSync(lock, JSON.stringify({ pid: dead, started: "1", purpose: "dead" }));
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
    assert.deepEqual(readdirSync(directory), []);
  }).timeout(60_000);

  it("replaces a partially written lock file", async () => {
    writeFileSync(join(directory, "lock"), '{"pid": 1');
    await withLock(join(directory, "lock"), { purpose: "new" }, () => Promise.resolve());
  });
});
