import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  backendDirectory,
  describeLock,
  holderIsDead,
  removeDeadLocks,
  stackLocks,
} from "../../../../automation/cluster/engine-locks.js";

describe("the lock of a stack", () => {
  let root: string;
  let backend: string;
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "backend-"));
    backend = pathToFileURL(root).href;
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });
  const put = (pid: number, host = hostname(), stack = "dev"): string => {
    const directory = join(root, ".pulumi", "locks", "organization", "stackadm", stack);
    mkdirSync(directory, { recursive: true });
    const file = join(directory, `${pid}.json`);
    const timestamp = "2026-01-02T03:04:05Z";
    writeFileSync(file, JSON.stringify({ pid, username: "me", hostname: host, timestamp }));
    writeFileSync(`${file}.attrs`, "{}");
    return file;
  };
  /** The id of a process that has certainly ended. */
  const deadPid = async (): Promise<number> => {
    const child = spawn("true");
    await once(child, "exit");
    return child.pid ?? 0;
  };

  it("is read with its holder", () => {
    const file = put(12, "elsewhere");
    const [lock] = stackLocks(backend, "stackadm", "dev");
    assert.deepEqual(lock, {
      file,
      pid: 12,
      user: "me",
      host: "elsewhere",
      since: new Date("2026-01-02T03:04:05Z"),
    });
    assert.equal(
      describeLock(lock),
      "process 12 of me on elsewhere, since 2026-01-02T03:04:05.000Z",
    );
  });

  it("is none of another stack, of a broken file or of a backend that is no directory", () => {
    put(1, hostname(), "other");
    assert.deepEqual(stackLocks(backend, "stackadm", "dev"), []);
    writeFileSync(put(2), "{");
    assert.deepEqual(stackLocks(backend, "stackadm", "dev"), []);
    assert.deepEqual(stackLocks("s3://bucket", "stackadm", "dev"), []);
    assert.equal(backendDirectory("s3://bucket"), undefined);
    assert.equal(backendDirectory("file:///a/b?no_tmp_dir=true"), "/a/b");
  });

  it("is removed with its attributes when its holder is gone", async () => {
    const file = put(await deadPid());
    const { removed, held } = removeDeadLocks(backend, "stackadm", "dev");
    assert.equal(removed.length, 1);
    assert.deepEqual(held, []);
    assert.ok(!existsSync(file) && !existsSync(`${file}.attrs`));
  });

  it("is removed when its number belongs to something else by now", () => {
    put(process.pid);
    assert.equal(removeDeadLocks(backend, "stackadm", "dev").removed.length, 1);
  });

  it("stays while a pulumi holds it", async () => {
    const directory = mkdtempSync(join(tmpdir(), "fake-"));
    symlinkSync("/bin/sleep", join(directory, "pulumi"));
    const child = spawn(join(directory, "pulumi"), ["30"]);
    await once(child, "spawn");
    const file = put(child.pid ?? 0);
    const { removed, held } = removeDeadLocks(backend, "stackadm", "dev");
    child.kill();
    rmSync(directory, { recursive: true });
    assert.deepEqual(removed, []);
    assert.equal(held.length, 1);
    assert.ok(existsSync(file));
  });

  it("of another host stays: nobody here knows whether its holder lives", async () => {
    put(await deadPid(), "elsewhere");
    const [lock] = stackLocks(backend, "stackadm", "dev");
    assert.ok(lock);
    assert.equal(holderIsDead(lock), false);
    assert.equal(removeDeadLocks(backend, "stackadm", "dev").held.length, 1);
  });
});
