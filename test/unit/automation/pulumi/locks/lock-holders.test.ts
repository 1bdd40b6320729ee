import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import {
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { hostname, tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { LockHolder } from "../../../../../automation/pulumi/locks/engine-locks.js";
import {
  deleteEngineNotes,
  hasEngineEnded,
  recordEngine,
  recordStartedEngines,
  readEngineNotes,
  isHolderAlive,
  isHolderDead,
  type EngineNote,
} from "../../../../../automation/pulumi/locks/lock-holders.js";
import {
  readPidScope,
  readProcessName,
  type ObservationPlace,
} from "../../../../../base/process-identity.js";
import { runPulumi } from "../../../../../automation/pulumi/stack-state.js";

describe("engine notes", () => {
  let directory: string;
  const children: ChildProcess[] = [];
  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), "notes-"));
  });
  afterEach(() => {
    for (const child of children.splice(0)) child.kill("SIGKILL");
    rmSync(directory, { recursive: true });
  });
  const command = (name: string): string => {
    const link = join(directory, name);
    symlinkSync("/bin/sleep", link);
    return link;
  };
  const start = async (file = "/bin/sleep", seconds = "30"): Promise<ChildProcess> => {
    const child = spawn(file, [seconds]);
    children.push(child);
    await once(child, "spawn");
    return child;
  };
  const end = async (child: ChildProcess): Promise<void> => {
    child.kill("SIGKILL");
    await once(child, "exit");
  };
  const holder = (pid: number | undefined, since = new Date(), host = hostname()): LockHolder => ({
    pid: pid ?? 0,
    user: "me",
    host,
    since,
  });
  const only = (): EngineNote => {
    const [note, ...others] = readEngineNotes(directory);
    assert.ok(note && others.length === 0);
    return note;
  };

  it("prove that a lock's holder is dead if the holder's process is gone", async () => {
    const engine = await start();
    recordEngine(directory, engine.pid ?? 0);
    assert.equal(isHolderDead(readEngineNotes(directory), holder(engine.pid)), false);
    assert.equal(isHolderAlive(readEngineNotes(directory), holder(engine.pid)), true);
    const later = holder(engine.pid, new Date(Date.now() + 60_000));
    assert.equal(isHolderAlive(readEngineNotes(directory), later), false);
    await end(engine);
    assert.equal(isHolderDead(readEngineNotes(directory), holder(engine.pid)), true);
    assert.equal(isHolderAlive(readEngineNotes(directory), holder(engine.pid)), false);
  });

  it("prove the death of an engine whose parent never reads its exit code", async () => {
    // The shell becomes `sleep`, which reads no exit codes.
    const parent = spawn("sh", ["-c", "sleep 30 & echo $!; exec sleep 30"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    children.push(parent);
    const [line] = (await once(parent.stdout, "data")) as [Buffer];
    const pid = Number(line.toString());
    const pause = (): Promise<void> => new Promise((resolve) => setTimeout(resolve, 20));
    // The shell itself would still read the exit code.
    while (readProcessName(parent.pid ?? 0) !== "sleep") await pause();
    recordEngine(directory, pid);
    assert.equal(isHolderDead(readEngineNotes(directory), holder(pid)), false);
    process.kill(pid, "SIGKILL");
    while (!readFileSync(`/proc/${pid.toString()}/stat`, "utf8").includes(") Z ")) await pause();
    assert.equal(isHolderDead(readEngineNotes(directory), holder(pid)), true);
    assert.equal(readProcessName(pid), undefined);
  }).timeout(20_000);

  it("prove that the engine ended if another process has its ID", async () => {
    const engine = await start();
    recordEngine(directory, engine.pid ?? 0);
    assert.equal(hasEngineEnded(only()), false);
    assert.equal(hasEngineEnded({ ...only(), started: "1" }), true);
  });

  it("prove nothing about a lock that the noted engine did not take", async () => {
    const engine = await start();
    const { pid } = engine;
    recordEngine(directory, pid ?? 0);
    await end(engine);
    const at = (milliseconds: number): Date => new Date(Date.now() + milliseconds);
    for (const other of [
      holder((pid ?? 0) + 1),
      holder(pid, at(0), "elsewhere"),
      holder(pid, at(-60_000)),
      holder(pid, at(60_000)),
    ])
      assert.equal(isHolderDead(readEngineNotes(directory), other), false, JSON.stringify(other));
    // The engine records when it took the lock, with a precision of one second.
    const second = new Date(Math.floor(Date.now() / 1_000) * 1_000);
    assert.equal(isHolderDead(readEngineNotes(directory), holder(pid, second)), true);
  });

  it("prove the death of an engine that took its lock late, as long as it was seen alive", () => {
    const late = (seen: number): EngineNote[] => [
      { ...described, host: hostname(), at: 1_000_000, seen, place: { boot: "b", namespace: "n" } },
    ];
    const here = { place: { boot: "b", namespace: "n" }, host: hostname(), booted: 0 };
    const lock = holder(described.pid, new Date(1_020_000));
    assert.equal(isHolderDead(late(1_000_000), lock, here), false);
    assert.equal(isHolderDead(late(1_019_000), lock, here), true);
  });

  it("have a heartbeat until the engine ends", async () => {
    const engine = await start();
    recordEngine(directory, engine.pid ?? 0);
    const { at, seen } = only();
    assert.ok(seen - at < 1_000);
    await new Promise((resolve) => setTimeout(resolve, 2_500));
    assert.ok(only().seen > at + 1_000);
    await end(engine);
    const last = only().seen;
    await new Promise((resolve) => setTimeout(resolve, 1_500));
    assert.equal(only().seen, last);
  }).timeout(20_000);

  it("are kept apart if engines of two containers have the same PID and start time", async () => {
    const engine = await start();
    const forget = recordEngine(directory, engine.pid ?? 0);
    recordEngine(directory, engine.pid ?? 0);
    assert.equal(readEngineNotes(directory).length, 2);
    forget();
    assert.equal(only().pid, engine.pid);
  });

  /** Note about an engine that does not exist. */
  const described = { token: "note", pid: 2 ** 30, started: "1" };

  describe("after a reboot", () => {
    const outside = "pid:[4026531836]";
    const machine = "0123456789abcdef0123456789abcdef";
    const note: EngineNote = {
      ...described,
      host: "here",
      at: 1_000_000,
      seen: 1_000_000,
      place: { boot: "first", namespace: outside, machine },
    };
    const place = { boot: "second", namespace: outside, machine };
    const here: ObservationPlace = { place, host: "here", booted: 2_000_000 };

    it("prove that every engine of this machine has ended", () => {
      assert.equal(hasEngineEnded(note, here), true);
      const lock = { pid: note.pid, user: "me", host: "here", since: new Date(note.at + 1_000) };
      assert.equal(isHolderDead([note], lock, here), true);
    });

    it("prove nothing if the note may be of another machine or of a container", () => {
      const inside = "pid:[4026532500]";
      const without = { boot: "second", namespace: outside };
      const cases: readonly [string, EngineNote, ObservationPlace][] = [
        ["another ID", note, { ...here, place: { ...place, machine: machine.replace("0", "1") } }],
        ["no ID here", note, { ...here, place: without }],
        ["no ID there", { ...note, place: { boot: "first", namespace: outside } }, here],
        [
          "no ID at all",
          { ...note, place: { boot: "first", namespace: outside } },
          { ...here, place: without },
        ],
        ["we in a container", note, { ...here, place: { ...place, namespace: inside } }],
        ["it in a container", { ...note, place: { ...note.place, namespace: inside } }, here],
        ["another name", note, { ...here, host: "copy" }],
        ["it began after the boot", note, { ...here, booted: 500_000 }],
        ["an unknown place", note, { ...here, place: undefined }],
      ];
      for (const [what, noted, at] of cases) assert.equal(hasEngineEnded(noted, at), false, what);
    });

    it("prove nothing about another container of the same boot", () => {
      const there = { ...note, place: { ...place, namespace: "pid:[4026532500]" } };
      assert.equal(hasEngineEnded(there, here), false);
    });
  });

  it("are written for every started engine and no other process, and kept until the engine ends normally", async () => {
    const [engine, plugin] = [command("pulumi"), command("pulumi-language-nodejs")];
    const forget = recordStartedEngines(directory);
    await start(plugin);
    const [running, killed] = [await start(engine), await start(engine)];
    const well = await start(engine, "0");
    assert.equal(readEngineNotes(directory).length, 3);
    await Promise.all([end(killed), once(well, "exit")]);
    forget();
    await start(engine);
    assert.deepEqual(
      readEngineNotes(directory)
        .map(({ pid }) => pid)
        .toSorted(),
      [running, killed].map(({ pid }) => pid).toSorted(),
    );
  });

  it("are not written for commands about tags, which take no lock", async () => {
    const engine = join(directory, "pulumi");
    writeFileSync(engine, "#!/bin/sh\nexec sleep 30\n", { mode: 0o755 });
    const forget = recordStartedEngines(directory);
    for (const [args, count] of [
      [["stack", "tag", "set"], 0],
      [["stack", "init", "tag"], 1],
    ] as const) {
      const child = spawn(engine, args);
      children.push(child);
      await once(child, "spawn");
      assert.equal(readEngineNotes(directory).length, count, args.join(" "));
    }
    forget();
  });

  it("are written for commands that lock the stack, and kept if the command was killed", async () => {
    const script = '#!/bin/sh\nsleep 0.2\nls engines >>"$HOME/seen" 2>&1\neval "$END"\n';
    writeFileSync(join(directory, "pulumi"), script, { mode: 0o755 });
    const access = (END: string) => ({
      workspace: { stack: "dev", project: "it", directory },
      env: { PATH: `${directory}:${process.env["PATH"] ?? ""}`, HOME: directory, END },
    });
    const seen = (): string => readFileSync(join(directory, "seen"), "utf8");
    await runPulumi(access("true"), ["stack", "import"], { locks: true });
    assert.match(seen(), /^[0-9a-f-]{36}\.json\n$/);
    await runPulumi(access("true"), ["stack", "export"]);
    assert.match(seen(), /^[0-9a-f-]{36}\.json\n$/);
    assert.deepEqual(readEngineNotes(directory), []);
    await assert.rejects(runPulumi(access("kill -9 $$"), ["stack", "import"], { locks: true }));
    assert.equal(hasEngineEnded(only()), true);
  });

  it("are deleted if no process holds the stack, except those of starting engines", async () => {
    const [one, other] = [await start(), await start()];
    for (const { pid } of [one, other]) recordEngine(directory, pid ?? 0);
    await end(one);
    writeFileSync(join(directory, "engines", "half-written.json"), "{");
    deleteEngineNotes(directory);
    assert.equal(only().pid, other.pid);
  });

  it("of another container are kept while its engine may be about to take the lock", () => {
    const place = { ...readPidScope(), namespace: "pid:[1]" };
    const note = { ...described, host: hostname(), at: Date.now(), place };
    const file = join(directory, "engines", "note.json");
    mkdirSync(dirname(file));
    writeFileSync(file, JSON.stringify(note));
    deleteEngineNotes(directory);
    assert.equal(only().token, "note");
    writeFileSync(file, JSON.stringify({ ...note, at: 0 }));
    utimesSync(file, new Date(0), new Date(0));
    deleteEngineNotes(directory);
    assert.deepEqual(readEngineNotes(directory), []);
  });
});
