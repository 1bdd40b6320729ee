import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { run } from "../../../base/run-command.js";
import { Failure } from "../../../base/failures/failure.js";

const shell = (script: string, options: Parameters<typeof run>[2] = {}, ...args: string[]) =>
  run("sh", ["-c", script, "sh", ...args], options);

const refusal = async (work: Promise<unknown>): Promise<Failure> => {
  const error = await work.then(
    () => undefined,
    (failed: unknown) => failed,
  );
  assert.ok(error instanceof Failure, String(error));
  return error;
};

describe("run", () => {
  it("returns both streams separately and the exit code", async () => {
    const options = { accept: [0, 3] };
    assert.deepEqual(await shell("echo out; echo err >&2; exit 3", options), {
      code: 3,
      stdout: "out\n",
      stderr: "err\n",
    });
  });

  it("passes arguments unchanged and without a shell", async () => {
    const word = fc.string({ unit: "grapheme-ascii" }).filter((text) => !text.includes("\0"));
    await fc.assert(
      fc.asyncProperty(fc.array(word, { minLength: 1, maxLength: 4 }), async (words) => {
        const { stdout } = await run("printf", ["%s\\0", ...words]);
        assert.deepEqual(stdout.split("\0").slice(0, -1), words);
      }),
      { numRuns: 20 },
    );
  });

  it("passes the complete input and then its end", async () => {
    const input = "a line\n".repeat(20_000);
    assert.equal((await shell("cat", { input })).stdout, input);
  });

  it("succeeds if the command does not read its input", async () => {
    const { code } = await shell("exit 0", { input: "x".repeat(1_000_000) });
    assert.equal(code, 0);
  });

  it("never connects a command without input to the terminal", async () => {
    assert.equal((await shell("cat")).stdout, "");
  });

  it("reports every output line while the command runs, including an unterminated last one", async () => {
    const lines: string[] = [];
    await shell("echo one; echo two >&2; printf three", { onLine: (line) => lines.push(line) });
    assert.deepEqual(lines.sort(), ["one", "three", "two"]);
  });

  it("uses only the environment and directory that the caller passes", async () => {
    const directory = mkdtempSync(join(tmpdir(), "run-"));
    try {
      const env = { PATH: process.env["PATH"], ONLY: "this" };
      const { stdout } = await shell("pwd; env", { cwd: directory, env });
      assert.ok(stdout.startsWith(`${directory}\n`));
      assert.match(stdout, /^ONLY=this$/m);
      assert.doesNotMatch(stdout, /^HOME=/m);
    } finally {
      rmSync(directory, { recursive: true });
    }
  });

  it("reports a failed command by name, exit code and standard error", async () => {
    const { message } = await refusal(run("sh", ["-c", "echo noise; echo the reason >&2; exit 7"]));
    assert.match(message, /^'sh -c .*' ended with code 7: the reason$/s);
  });

  it("omits progress output from the error", async () => {
    const script =
      "echo a.go:1: the reason >&2; for i in 1 2 3 4 5 6 7 8 9; do echo p/$i >&2; done; exit 1";
    const work = run("sh", ["-c", script], { isProgress: (line) => line.startsWith("p/") });
    await assert.rejects(work, /ended with code 1: a\.go:1: the reason$/);
  });

  it("reports the end of standard output if standard error is empty", async () => {
    const { message } = await refusal(shell("seq 100; exit 1"));
    assert.ok(message.endsWith(": 93\n94\n95\n96\n97\n98\n99\n100"), message);
  });

  it("reports only the command's first words, because later arguments may be secret", async () => {
    const { message } = await refusal(shell("exit 1", {}, "a-secret-argument"));
    assert.ok(!message.includes("a-secret-argument"));
  });

  it("reports a killed command as failed", async () => {
    assert.match((await refusal(shell("kill -9 $$"))).message, /ended with code 128/);
  });

  it("reports a missing command with what to do", async () => {
    const { message, hint } = await refusal(run("stackadm-no-such-command", []));
    assert.equal(message, "The command 'stackadm-no-such-command' is not installed.");
    assert.match(hint, /^Install it/);
  });

  it("does not report a missing working directory as a missing command", async () => {
    const { message } = await refusal(shell("true", { cwd: "/no/such/directory" }));
    assert.equal(message, "There is no directory /no/such/directory to run 'sh' in.");
  });

  it("kills the command after its time limit", async () => {
    const { message } = await refusal(
      shell("exec sleep 60", { timeout: 100 }, "a-secret-argument"),
    );
    assert.match(message, /^'sh -c exec sleep 60 .*' did not end within 0\.1 s\.$/s);
    await shell("true", { timeout: 60_000 });
  });

  it("reports an abort before the time limit as an abort", async () => {
    const work = shell("exec sleep 60", { signal: AbortSignal.timeout(100), timeout: 60_000 });
    await assert.rejects(work, { name: "AbortError" });
  });

  it("kills the command on abort", async () => {
    const stop = new AbortController();
    const work = shell("echo ready; exec sleep 60", {
      signal: stop.signal,
      onLine: () => {
        stop.abort();
      },
    });
    await assert.rejects(work, { name: "AbortError" });
  });
});
