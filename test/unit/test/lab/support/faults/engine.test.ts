import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { enginesOf, workersOf } from "../../../../../lab/support/faults/engine.js";

/** Starts a process that waits, with these words in its command line. */
async function waiting(words: readonly string[], argv0: string = process.execPath) {
  const script = "process.stdout.write('there'); setInterval(() => {}, 1000)";
  const child = spawn(process.execPath, ["-e", script, "--", ...words], {
    argv0,
    stdio: ["ignore", "pipe", "inherit"],
  });
  assert.ok(child.stdout);
  await once(child.stdout, "data");
  return {
    pid: child.pid ?? 0,
    end: async () => {
      child.kill("SIGKILL");
      await once(child, "close");
    },
  };
}

describe("processes of an operation", () => {
  it("are workers of their parent process", async () => {
    const worker = await waiting(["/somewhere/automation/engine/worker.ts"]);
    const other = await waiting(["/somewhere/automation/engine/script-watchdog.ts"]);
    assert.deepEqual(workersOf(), [worker.pid]);
    assert.deepEqual(workersOf(worker.pid), []);
    await worker.end();
    await other.end();
    assert.deepEqual(workersOf(), []);
  });

  it("are engines of one stack", async () => {
    const engine = await waiting(["up", "--stack", "of-an-engine-test"], "/somewhere/pulumi");
    assert.deepEqual(enginesOf("of-an-engine-test"), [engine.pid]);
    assert.deepEqual(enginesOf("of-another-test"), []);
    await engine.end();
  });
});
