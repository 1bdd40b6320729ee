import assert from "node:assert/strict";
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { decodeStruct } from "../../../../stand-ins/plugin/values.js";
import type { JsonObject } from "../../../../stand-ins/plugin/values.js";
import { Harness, secret } from "./harness.js";

const type = "command:local:Command";

describe("local command", () => {
  let harness: Harness;
  beforeEach(async () => {
    harness = await Harness.start({ PATH: process.env["PATH"], INHERITED: "yes" });
  });
  afterEach(() => {
    harness.stop();
  });

  async function create(news: JsonObject, timeout = 0): Promise<JsonObject> {
    return decodeStruct((await harness.create({ type, news, timeout })).getProperties());
  }

  it("runs by /bin/sh with the environments of plugin and resource", async () => {
    const outputs = await create({
      create: "echo $INHERITED $OWN; echo err >&2",
      environment: { OWN: secret("mine") },
    });
    assert.deepEqual([outputs["stdout"], outputs["stderr"]], ["yes mine", "err"]);
    assert.deepEqual([...harness.lines].sort(), ["err", "yes mine"]);
  });

  it("runs by another interpreter, in another directory, with standard input", async () => {
    const dir = realpathSync(mkdtempSync(join(tmpdir(), "stackadm-local-")));
    try {
      const interpreter = ["/bin/bash", "-ec"];
      const outputs = await create({ create: "cat; pwd", stdin: "in\n", dir, interpreter });
      assert.equal(outputs["stdout"], `in\n${dir}`);
    } finally {
      rmSync(dir, { recursive: true });
    }
  });

  it("trims exactly one line end", async () => {
    assert.equal((await create({ create: "printf 'a\\n\\n'" }))["stdout"], "a\n");
  });

  it("reports exit code, command and output in the error", async () => {
    await assert.rejects(create({ create: 'echo "hi"; exit 4' }), {
      message: 'exit status 4: running "echo \\"hi\\"; exit 4":\nhi\n',
    });
  });

  it("reports a program that cannot be started", async () => {
    await assert.rejects(create({ create: "x", interpreter: ["/nonexistent"] }), {
      message: 'fork/exec /nonexistent: no such file or directory: running "x":\n',
    });
    await assert.rejects(create({ create: "x", interpreter: ["no-such-program"] }), {
      message: 'exec: "no-such-program": executable file not found in $PATH: running "x":\n',
    });
    await assert.rejects(create({ create: "x", dir: "/nonexistent" }), {
      message: 'chdir /nonexistent: no such file or directory: running "x":\n',
    });
  });

  it("is killed at its time limit and on the engine's cancel", async () => {
    const killed = /^Error: signal: killed: running "exec sleep 60":/;
    await assert.rejects(create({ create: "exec sleep 60" }, 0.3), killed);
    const running = assert.rejects(create({ create: "exec sleep 60" }), killed);
    setImmediate(() => {
      harness.provider.cancel();
    });
    // The cancel may come before or after the start of the command. In both cases, the test does
    // not wait the full minute.
    await running.catch(async () => {
      await assert.rejects(create({ create: "true" }), { message: "context canceled" });
    });
  });

  it("passes the previous outputs on update and delete", async () => {
    const olds = { stdout: "one", stderr: "two", create: "true" };
    const command = "echo $PULUMI_COMMAND_STDOUT $PULUMI_COMMAND_STDERR";
    const updated = await harness.update({ type, olds, news: { create: command } });
    assert.equal(decodeStruct(updated.getProperties())["stdout"], "one two");
    await harness.delete({ type, olds: { ...olds, delete: `${command} at delete` } });
    assert.ok(harness.lines.includes("one two at delete"));
  });

  it("has unknown outputs in a preview and runs nothing", async () => {
    const response = await harness.create({ type, news: { create: "exit 1" }, preview: true });
    const { stdout, stderr } = decodeStruct(response.getProperties());
    const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";
    assert.deepEqual([stdout, stderr], [unknown, unknown]);
  });

  it("does nothing without a command", async () => {
    const outputs = await create({});
    assert.deepEqual(outputs, { stdout: "", stderr: "" });
  });
});
