import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import {
  describeLock,
  holderIsDead,
  holderRuns,
  noteLocks,
  removeLock,
  stackLocks,
  type StackLock,
} from "../../../../automation/cluster/engine-locks.js";
import { backendDirectory } from "../../../../automation/setup/backend.js";
import { processFacts } from "../../../../base/process.js";

describe("the lock of a stack", () => {
  let root: string;
  let backend: string;
  const stateHome = process.env["XDG_STATE_HOME"];
  const children: ChildProcess[] = [];
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "backend-"));
    backend = pathToFileURL(root).href;
    process.env["XDG_STATE_HOME"] = join(root, "state");
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill();
    if (stateHome === undefined) delete process.env["XDG_STATE_HOME"];
    else process.env["XDG_STATE_HOME"] = stateHome;
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
    const [lock, ...others] = stackLocks(backend, "stackadm", "dev");
    assert.ok(lock && others.length === 0);
    return lock;
  };
  /** Stands for an engine. */
  const engine = async (): Promise<ChildProcess> => {
    const link = join(root, "pulumi");
    if (!existsSync(link)) symlinkSync("/bin/sleep", link);
    const child = spawn(link, ["30"]);
    children.push(child);
    await once(child, "spawn");
    return child;
  };
  const group = (): number => processFacts(process.pid)?.group ?? 0;
  const end = async (child: ChildProcess): Promise<void> => {
    child.kill("SIGKILL");
    await once(child, "exit");
  };

  it("is read with its holder", () => {
    const file = put(12, "elsewhere");
    const since = new Date("2026-01-02T03:04:05Z");
    assert.deepEqual(only(), { file, holder: { pid: 12, user: "me", host: "elsewhere", since } });
    assert.equal(
      describeLock(only()),
      "process 12 of me on elsewhere, since 2026-01-02T03:04:05.000Z",
    );
  });

  it("is none of another stack, or of a backend that is no directory", () => {
    put(1, hostname(), "other");
    assert.deepEqual(stackLocks(backend, "stackadm", "dev"), []);
    assert.deepEqual(stackLocks("s3://bucket", "stackadm", "dev"), []);
    assert.equal(backendDirectory("s3://bucket"), undefined);
    assert.equal(backendDirectory("file:///a/b?no_tmp_dir=true"), "/a/b");
  });

  it("counts as held when nobody can read it", () => {
    const file = put(2);
    writeFileSync(file, "{");
    assert.deepEqual(only(), { file });
    assert.equal(holderIsDead(only()), false);
    assert.equal(describeLock(only()), `somebody unknown (${file} cannot be read)`);
  });

  it("is dead when the process that was noted with it is gone", async () => {
    const child = await engine();
    const file = put(child.pid ?? 0);
    noteLocks([only()], group());
    assert.deepEqual([holderIsDead(only()), holderRuns(only())], [false, true]);
    await end(child);
    assert.deepEqual([holderIsDead(only()), holderRuns(only())], [true, false]);
    removeLock(only());
    assert.ok(!existsSync(file) && !existsSync(`${file}.attrs`));
  });

  it("is dead when the number belongs to another process by now", async () => {
    const child = await engine();
    put(child.pid ?? 0);
    noteLocks([only()], group());
    const note = join(root, "state", "stackadm", "locks", `${child.pid ?? 0}.json`);
    const text = readFileSync(note, "utf8");
    writeFileSync(note, text.replace(/"started":"\d+"/, '"started":"1"'));
    assert.equal(holderIsDead(only()), true);
    writeFileSync(note, text.replace(/"place":"\S+/, '"place":"another-boot'));
    assert.equal(holderIsDead(only()), false, "of another boot, or of another container");
  });

  it("is nobody's to judge without a note: the host's name and the number are no proof", async () => {
    const child = await engine();
    put(child.pid ?? 0);
    await end(child);
    assert.equal(holderIsDead(only()), false);
  });

  it("is noted only by whoever runs its engine", async () => {
    const child = await engine();
    put(child.pid ?? 0);
    noteLocks([only()], group() + 1);
    await end(child);
    assert.equal(holderIsDead(only()), false);
  });

  it("takes its note along when it is given back, and not before", async () => {
    const child = await engine();
    const file = put(child.pid ?? 0);
    const note = join(root, "state", "stackadm", "locks", `${child.pid ?? 0}.json`);
    const forget = noteLocks([only()], group());
    forget();
    assert.ok(existsSync(note));
    rmSync(file);
    forget();
    assert.ok(!existsSync(note));
  });
});
