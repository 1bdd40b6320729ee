import assert from "node:assert/strict";
import { decodeStruct } from "../../../../stand-ins/plugin/values.js";
import type { JsonObject } from "../../../../stand-ins/plugin/values.js";
import type { SshServer } from "../../../../../../test/engine/support/ssh-server.js";
import { until } from "../../../../../../test/engine/support/until.js";
import { Bench, remoteType } from "./bench.js";
import { secret } from "./harness.js";

describe("remote command", () => {
  let bench: Bench;
  beforeEach(async () => {
    bench = await Bench.start();
  });
  afterEach(() => bench.stop());

  describe("running", () => {
    it("passes standard input and keeps the streams separate", async () => {
      const server = await bench.serve();
      const outputs = await bench.create({
        connection: bench.connection(server),
        create: "bash -s",
        stdin: secret("echo out; echo err >&2"),
      });
      assert.deepEqual([outputs["stdout"], outputs["stderr"]], ["out", "err"]);
    });

    it("reports command and complete output in the error", async () => {
      const server = await bench.serve();
      const failing = {
        connection: bench.connection(server),
        create: "echo o; echo e >&2; exit 7",
      };
      await assert.rejects(bench.create({ ...failing, logging: "none" }), (error: Error) => {
        assert.match(
          error.message,
          /^Process exited with status 7: running "echo o; echo e >&2; exit 7":\n/,
        );
        assert.deepEqual(error.message.split("\n").slice(1).sort(), ["", "e", "o"]);
        return true;
      });
      assert.deepEqual(bench.harness.lines, []);
    });

    it("reports the signal that ended a command", async () => {
      const server = await bench.serve();
      await assert.rejects(
        bench.create({ connection: bench.connection(server), create: "kill -TERM $$" }),
        /^Error: Process exited with status 143 from signal TERM: running/,
      );
    });

    it("sends keep-alive probes on the connection, so that a dead machine ends the command", async () => {
      const server = await bench.serve();
      const connection = bench.connection(server);
      // The timer 02 of the kernel is the keep-alive timer. It runs when nothing is sent.
      const to = server.port.toString(16).toUpperCase().padStart(4, "0");
      const { stdout } = await bench.create({ connection, create: "sleep 0.5; cat /proc/net/tcp" });
      assert.match(stdout as string, new RegExp(`:${to} 01 \\S+ 02:`));
    });

    it("reports a lost connection", async () => {
      const server = await bench.serve();
      const running = bench.create({
        connection: bench.connection(server),
        create: "echo on; sleep 60",
      });
      const lost = assert.rejects(running, /exited without exit status or exit signal/);
      await until("the command stand-in got there", () => bench.harness.lines.includes("on"));
      server.disconnectAll();
      await lost;
    });

    it("passes lines of 200 KiB", async () => {
      const server = await bench.serve();
      const size = 200 * 1024;
      const outputs = await bench.create({
        connection: bench.connection(server),
        create: `head -c ${size} /dev/zero | tr '\\0' x; echo; head -c ${size} /dev/zero | tr '\\0' y`,
      });
      assert.equal(outputs["stdout"], `${"x".repeat(size)}\n${"y".repeat(size)}`);
      assert.deepEqual(
        bench.harness.lines.map((line) => [line.length, line[0]]),
        [
          [size, "x"],
          [size, "y"],
        ],
      );
    });

    for (const [logging, expected] of [
      ["none", []],
      ["stdout", ["o"]],
      ["stderr", ["e"]],
      ["stdoutAndStderr", ["e", "o"]],
    ] as const) {
      it(`shows output of 'logging: ${logging}' during the run`, async () => {
        const server = await bench.serve();
        await bench.create({
          connection: bench.connection(server),
          create: "echo o; echo e >&2",
          logging,
        });
        assert.deepEqual([...bench.harness.lines].sort(), expected);
        assert.ok(bench.harness.told.every(({ urn }) => urn.endsWith("::it")));
      });
    }
  });

  describe("environment", () => {
    it("reaches the command if the server accepts environment variables", async () => {
      const server = await bench.serve({ acceptEnvironment: ["COLOUR"] });
      const outputs = await bench.create({
        connection: bench.connection(server),
        create: "echo $COLOUR",
        environment: { COLOUR: "green" },
      });
      assert.equal(outputs["stdout"], "green");
    });

    it("fails before the command runs if the server refuses a variable", async () => {
      const server = await bench.serve();
      const refused = {
        connection: bench.connection(server),
        create: "true",
        environment: { A: "b" },
      };
      await assert.rejects(bench.create(refused), {
        message: 'could not set environment variable "A": ssh: setenv failed',
      });
      assert.deepEqual(server.commands, []);
      assert.match(bench.harness.told[0]?.text ?? "", /^Unable to set 'A'\. .*AcceptEnv/s);
    });
  });

  describe("update and delete", () => {
    const olds = { stdout: "before", stderr: "" };

    it("runs update, or create without an update command", async () => {
      const server = await bench.serve();
      const news = { connection: secret(bench.connection(server)), create: "echo c" };
      const first = await bench.harness.update({ type: remoteType, olds, news });
      const second = await bench.harness.update({
        type: remoteType,
        olds,
        news: { ...news, update: "echo u" },
      });
      assert.equal(decodeStruct(first.getProperties())["stdout"], "c");
      assert.equal(decodeStruct(second.getProperties())["stdout"], "u");
    });

    it("passes the previous outputs, and only warns if the server refuses them", async () => {
      const open = await bench.serve({ acceptEnvironment: ["PULUMI_COMMAND_STDOUT"] });
      const strict = await bench.serve();
      const news = { create: "echo was $PULUMI_COMMAND_STDOUT" };
      const run = async (server: SshServer, more: JsonObject = {}): Promise<unknown> => {
        const connected = { ...news, ...more, connection: secret(bench.connection(server)) };
        const response = await bench.harness.update({ type: remoteType, olds, news: connected });
        return decodeStruct(response.getProperties())["stdout"];
      };
      assert.equal(await run(open), "was before");
      assert.equal(await run(open, { addPreviousOutputInEnv: false }), "was");
      assert.deepEqual(
        bench.harness.told.filter(({ ephemeral }) => !ephemeral),
        [],
      );
      assert.equal(await run(strict), "was");
      const [warning] = bench.harness.told.filter(({ ephemeral }) => !ephemeral);
      assert.match(warning?.text ?? "", /^Unable to set 'PULUMI_COMMAND_STDOUT'/);
    });

    it("runs delete with the state's connection, and nothing without a delete command", async () => {
      const server = await bench.serve();
      const state = { ...olds, connection: secret(bench.connection(server)), create: "echo c" };
      await bench.harness.delete({ type: remoteType, olds: state });
      await bench.harness.delete({ type: remoteType, olds: { ...state, delete: "echo bye" } });
      assert.deepEqual(server.commands, ["echo bye"]);
    });
  });

  it("leaves no connection open", async () => {
    const server = await bench.serve();
    await bench.create({ connection: bench.connection(server), create: "true" });
    await assert.rejects(bench.create({ connection: bench.connection(server), create: "false" }));
    assert.equal(server.logins, 2);
    await until("the command stand-in got there", () => !(server.open > 0));
  });
});
