import assert from "node:assert/strict";
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { createInterface } from "node:readline";
import * as grpc from "@grpc/grpc-js";
import fc from "fast-check";
import {
  parseEngineAddress,
  toGrpcError,
  createUnaryHandler,
  createUnimplementedHandler,
} from "../../../../stand-ins/plugin/serve.js";

describe("parseEngineAddress", () => {
  it("finds the address after all flags of the engine", () => {
    for (const flags of [[], ["--logflow"], ["-v=9", "--logtostderr"], ["--tracing", "file:x"]]) {
      assert.equal(
        parseEngineAddress([...flags, "127.0.0.1:4711"]),
        "127.0.0.1:4711",
        flags.join(" "),
      );
    }
  });

  it("returns the last argument, even if a flag's value resembles an address", () => {
    assert.equal(parseEngineAddress(["--tracing", "collector:9411", "127.0.0.1:1"]), "127.0.0.1:1");
  });

  it("returns nothing without arguments, as when the user starts the plugin", () => {
    assert.equal(parseEngineAddress([]), undefined);
    assert.equal(parseEngineAddress(["--help", "-v=9"]), undefined);
  });
});

describe("answers of a plugin", () => {
  type Result = { error: Partial<grpc.StatusObject> | null; value?: unknown };
  /** Type of a grpc-js handler, with only the fields of a call that the test uses. */
  type Handler = (
    call: { readonly request: string },
    callback: (error: Result["error"], value?: unknown) => void,
  ) => void;
  const call = (handler: grpc.handleUnaryCall<string, string>, request: string) =>
    new Promise<Result>((resolve) => {
      (handler as unknown as Handler)({ request }, (error, value) => {
        resolve({ error, value });
      });
    });

  it("are the function's results, immediate or asynchronous", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.boolean(), async (text, later) => {
        const handler = createUnaryHandler((request: string) =>
          later ? Promise.resolve(request) : request,
        );
        assert.deepEqual(await call(handler, text), { error: null, value: text });
      }),
    );
  });

  it("are errors with the thrown message, immediate or asynchronous", async () => {
    for (const handler of [
      createUnaryHandler<string, string>(() => {
        throw new Error("no such host");
      }),
      createUnaryHandler<string, string>(() => Promise.reject(new Error("no such host"))),
    ]) {
      const { error } = await call(handler, "");
      assert.deepEqual([error?.code, error?.details], [grpc.status.UNKNOWN, "no such host"]);
    }
  });

  it("keep an explicit gRPC status", () => {
    const builder = new grpc.StatusBuilder().withCode(grpc.status.INVALID_ARGUMENT);
    assert.equal(toGrpcError(builder.withDetails("port")).code, grpc.status.INVALID_ARGUMENT);
    assert.equal(toGrpcError("only words").details, "only words");
  });

  it("report a method that the plugin lacks", async () => {
    const handler = createUnimplementedHandler("Invoke") as grpc.handleUnaryCall<string, string>;
    const { error } = await call(handler, "");
    assert.deepEqual(error, { code: 12, details: "Invoke is not implemented" });
  });
});

describe("plugin process", function () {
  this.timeout(30_000);
  let plugin: ChildProcess;
  const start = (stdin: "pipe" | "ignore"): ChildProcess => {
    const serve = join(__dirname, "../../../../stand-ins/plugin/serve.ts");
    const program = `
      const { serve } = require(${JSON.stringify(serve)});
      const { EngineService: service } = require("@pulumi/pulumi/proto/engine_grpc_pb.js");
      void serve({ service, implementation: {}, onEngineGone: () => console.log("gone") });`;
    const args = ["--import", "tsx", "--input-type=commonjs", "--eval", program];
    return spawn(process.execPath, args, { stdio: [stdin, "pipe", "inherit"] });
  };
  const lines: string[] = [];
  const firstLine = async (): Promise<number> => {
    assert.ok(plugin.stdout);
    lines.length = 0;
    const reader = createInterface({ input: plugin.stdout });
    reader.on("line", (line) => lines.push(line));
    await Promise.race([once(reader, "line"), once(plugin, "exit")]);
    return Number(lines[0]);
  };
  afterEach(() => {
    plugin.kill("SIGKILL");
  });

  it("prints its port as the first line and serves on the port", async () => {
    plugin = start("pipe");
    const port = await firstLine();
    const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
    await new Promise<void>((resolve, reject) => {
      client.waitForReady(Date.now() + 10_000, (error) => {
        if (error) reject(error);
        else resolve();
      });
    });
    client.close();
  });

  it("cleans up and ends if the engine is gone", async () => {
    plugin = start("pipe");
    await firstLine();
    const ended = once(plugin, "close");
    plugin.stdin?.end();
    assert.deepEqual((await ended)[0], 0);
    assert.equal(lines.at(-1), "gone");
  });

  it("keeps running if its standard input never was the engine's", async () => {
    plugin = start("ignore");
    const port = await firstLine();
    const client = new grpc.Client(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
    await new Promise((resolve) => {
      client.waitForReady(Date.now() + 10_000, resolve);
    });
    client.close();
    assert.equal(plugin.exitCode, null);
  });
});
