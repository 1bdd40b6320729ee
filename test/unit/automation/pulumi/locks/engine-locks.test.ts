import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  describeLock,
  isHolderRunning,
  parseLocksFromMessage,
  removeLock,
  readStackLocks,
  type StackLock,
} from "../../../../../automation/pulumi/locks/engine-locks.js";
import { readProcessName } from "../../../../../base/process-identity.js";
import { parseBackendDirectory } from "../../../../../automation/pulumi/backend.js";

describe("stack locks", () => {
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
  const only = (): StackLock => {
    const [lock, ...others] = readStackLocks(backend, "stackadm", "dev");
    assert.ok(lock && others.length === 0);
    return lock;
  };
  it("are read with their holder", () => {
    const file = put(12, "elsewhere");
    const since = new Date("2026-01-02T03:04:05Z");
    const holder = { pid: 12, user: "me", host: "elsewhere", since };
    assert.deepEqual(only(), { file, id: "12", holder });
    assert.equal(describeLock(only()), "process 12 of me on elsewhere, since 2026-01-02T03:04:05Z");
  });

  it("exclude those of other stacks and of backends that are not directories", () => {
    put(1, hostname(), "other");
    assert.deepEqual(readStackLocks(backend, "stackadm", "dev"), []);
    assert.deepEqual(readStackLocks("s3://bucket", "stackadm", "dev"), []);
    assert.equal(parseBackendDirectory("s3://bucket"), undefined);
    assert.equal(parseBackendDirectory("file:///a/b?no_tmp_dir=true"), "/a/b");
  });

  it("count as held if unreadable", () => {
    const file = put(2);
    writeFileSync(file, "{");
    assert.deepEqual(only(), { file, id: "2" });
    assert.equal(describeLock(only()), `an unknown process (${file} cannot be read)`);
  });

  it("count as held while an engine with the holder's process ID runs on this host", async () => {
    const link = join(root, "pulumi");
    symlinkSync("/bin/sleep", link);
    const engine = spawn(link, ["30"]);
    await once(engine, "spawn");
    const file = put(engine.pid ?? 0);
    assert.equal(isHolderRunning(only()), true);
    engine.kill("SIGKILL");
    await once(engine, "exit");
    assert.equal(isHolderRunning(only()), false);
    removeLock(only());
    assert.ok(!existsSync(file) && !existsSync(`${file}.attrs`));
  });

  it("count as held while an engine with the holder's process ID runs, also without /proc", async () => {
    const link = join(root, "pulumi");
    symlinkSync("/bin/sleep", link);
    const engine = spawn(link, ["30"]);
    await once(engine, "spawn");
    put(engine.pid ?? 0);
    const withoutProc = (pid: number): string | undefined => readProcessName(pid, root);
    assert.equal(isHolderRunning(only(), withoutProc), true);
    engine.kill("SIGKILL");
    await once(engine, "exit");
    assert.equal(isHolderRunning(only(), withoutProc), false);
    assert.equal(
      isHolderRunning(only(), () => "/opt/homebrew/bin/pulumi"),
      true,
    );
  });

  it("are parsed from the engine's message if the backend is not a directory, without duplicates", () => {
    const line = (pid: number, since: string): string =>
      `  s3://bucket/x.json: created by ann@example.org@host (pid ${pid}) at ${since}\n`;
    const said = line(1, "2026-01-02T05:04:05+02:00") + line(2, "never");
    const locks = parseLocksFromMessage(
      `error: the stack is currently locked by 2 lock(s).\n${said}${said}`,
    );
    assert.deepEqual(locks.map(describeLock), [
      "process 1 of ann@example.org on host, since 2026-01-02T03:04:05Z",
      "an unknown process",
    ]);
    assert.deepEqual(parseLocksFromMessage("error: dial tcp: i/o timeout"), []);
  });

  it("are parsed with their UUID, also from a URL with parameters", () => {
    const id = "0d4f7d02-5be1-4dc0-a0a6-bb5e6a7f8d7c";
    const path = `.pulumi/locks/organization/it/dev/${id}.json`;
    const by = "created by ann@host (pid 1) at 2026-01-02T03:04:05Z";
    for (const url of [
      `s3://bucket/${path}?endpoint=http://127.0.0.1:9/x.json&region=eu`,
      `postgres://****:****@host/database/${path}`,
    ]) {
      const [lock, ...others] = parseLocksFromMessage(`error: locked.\n  ${url}: ${by}\n`);
      assert.deepEqual([lock?.id, others], [id, []], url);
    }
    assert.equal(parseLocksFromMessage(by)[0]?.id, undefined);
  });
});
