import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import {
  getUnshareArguments,
  runInLinuxNamespaces,
} from "../../../host/run-in-linux-namespaces.js";

describe("runInLinuxNamespaces", () => {
  let folder = "";
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "lab-contained-"));
  });
  afterEach(() => {
    rmSync(folder, { recursive: true });
  });

  it("puts the command and its arguments last", () => {
    assert.deepEqual(getUnshareArguments("tar", ["-c", "."]).slice(-3), ["tar", "-c", "."]);
  });

  it("makes the command die with this process", () => {
    const words = getUnshareArguments("x", []);
    assert.equal(words[words.indexOf("--pdeathsig") + 1], "KILL");
    assert.ok(words.includes("--kill-child=KILL"));
  });

  it("reports every line of both streams", async () => {
    const lines: string[] = [];
    const script = "echo one; echo two >&2; echo three";
    await runInLinuxNamespaces("sh", ["-c", script], { onLine: (line) => lines.push(line) });
    assert.deepEqual(lines.sort(), ["one", "three", "two"]);
  });

  it("fails with the command's last output", async () => {
    await assert.rejects(runInLinuxNamespaces("sh", ["-c", "echo no such thing; exit 3"]), {
      message: /'sh' ended with code 3: no such thing/,
    });
  });

  it("kills the command's children too, even those that ignore signals", async () => {
    const abort = new AbortController();
    const alive = join(folder, "alive");
    const script = `trap '' TERM; (trap '' TERM; sleep 600) & echo > ${alive}; echo started; wait`;
    const before = Date.now();
    const work = runInLinuxNamespaces("sh", ["-c", script], {
      signal: abort.signal,
      onLine: () => {
        abort.abort(new Error("enough"));
      },
    });
    await assert.rejects(work, /^Error: enough$/);
    assert.ok(existsSync(alive));
    assert.ok(Date.now() - before < 15_000);
    assert.doesNotMatch(readFileSync("/proc/mounts", "utf8"), new RegExp(folder));
  });

  it("does not start after a cancellation", async () => {
    const file = join(folder, "never");
    const signal = AbortSignal.abort(new Error("called off"));
    await assert.rejects(runInLinuxNamespaces("touch", [file], { signal }), /called off/);
    assert.ok(!existsSync(file));
  });

  it("leaves no mount", async () => {
    await runInLinuxNamespaces("mount", ["-t", "tmpfs", "tmpfs", folder]);
    assert.doesNotMatch(readFileSync("/proc/mounts", "utf8"), new RegExp(folder));
  });
});
