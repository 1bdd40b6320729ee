import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import * as grpc from "@grpc/grpc-js";
import { Empty } from "google-protobuf/google/protobuf/empty_pb.js";
import { Struct } from "google-protobuf/google/protobuf/struct_pb.js";
import {
  LanguageRuntimeClient,
  LanguageRuntimeService,
} from "@pulumi/pulumi/proto/language_grpc_pb.js";
import * as messages from "@pulumi/pulumi/proto/language_pb.js";
import type { PluginInfo } from "@pulumi/pulumi/proto/plugin_pb.js";
import { LanguageHost } from "../../../../stand-ins/nodejs/language-host.js";
import type { EngineLogMessage } from "../../../../stand-ins/plugin/engine-log.js";
import { settle } from "../command/harness.js";

interface Exchange {
  readonly method: string;
  readonly response: {
    readonly packages?: readonly { kind: string; name: string; version: string }[];
    readonly metadata?: Readonly<Record<string, string>>;
  };
}
const root = resolve(__dirname, "../../../../../..");
const recorded = readFileSync(
  join(root, "packages/toolchain/test/fixtures/transcripts/nodejs/language-host.jsonl"),
  "utf8",
)
  .trim()
  .split("\n")
  .map((line) => JSON.parse(line) as Exchange);

describe("Node language host", function () {
  this.timeout(60_000);
  let host: LanguageHost;
  let server: grpc.Server;
  let client: LanguageRuntimeClient;
  let directory: string;
  const sent: EngineLogMessage[] = [];

  before(async () => {
    directory = mkdtempSync(join(tmpdir(), "stackadm-host-"));
    symlinkSync(join(root, "node_modules"), join(directory, "node_modules"));
    writeFileSync(join(directory, "package.json"), `{"dependencies":{"typescript":"*"}}`);
    const log = {
      send: (message: EngineLogMessage) => sent.push(message),
      flush: () => Promise.resolve(),
    };
    host = new LanguageHost({
      engine: "127.0.0.1:1",
      log,
      env: process.env,
      node: process.execPath,
    });
    server = new grpc.Server();
    server.addService(LanguageRuntimeService, host.handlers());
    const port = await new Promise<number>((done, failed) => {
      server.bindAsync("127.0.0.1:0", grpc.ServerCredentials.createInsecure(), (error, bound) => {
        if (error) failed(error);
        else done(bound);
      });
    });
    client = new LanguageRuntimeClient(`127.0.0.1:${port}`, grpc.credentials.createInsecure());
  });
  after(() => {
    client.close();
    server.forceShutdown();
    rmSync(directory, { recursive: true });
  });

  function info(options: Record<string, boolean | string> = {}): messages.ProgramInfo {
    return new messages.ProgramInfo()
      .setProgramDirectory(directory)
      .setRootDirectory(directory)
      .setEntryPoint(".")
      .setOptions(Struct.fromJavaScript(options));
  }

  it("returns the same packages as the official host", async () => {
    const expected = recorded.find(({ method }) => method.endsWith("GetRequiredPackages"));
    const response = await new Promise<messages.GetRequiredPackagesResponse>((done, failed) => {
      const request = new messages.GetRequiredPackagesRequest().setInfo(info());
      client.getRequiredPackages(request, settle(done, failed));
    });
    const packages = response.getPackagesList().map((one) => ({
      kind: one.getKind(),
      name: one.getName(),
      version: one.getVersion(),
    }));
    assert.deepEqual(packages, expected?.response.packages);
  });

  it("returns information about node and TypeScript in the official host's fields", async () => {
    const expected = recorded.find(({ method }) => method.endsWith("About"));
    const response = await new Promise<messages.AboutResponse>((done, failed) => {
      client.about(new messages.AboutRequest().setInfo(info()), settle(done, failed));
    });
    assert.deepEqual(
      [response.getExecutable(), response.getVersion()],
      [process.execPath, process.version],
    );
    const metadata = Object.fromEntries(response.getMetadataMap().toArray());
    assert.equal(metadata["typescriptVersion"], expected?.response.metadata?.["typescriptVersion"]);
    assert.equal(metadata["packagemanager"], "npm");
  });

  it("has no version and no prompts, as recorded", async () => {
    const plugin = await new Promise<PluginInfo>((done, failed) => {
      client.getPluginInfo(new Empty(), settle(done, failed));
    });
    const prompts = await new Promise<messages.RuntimeOptionsResponse>((done, failed) => {
      const request = new messages.RuntimeOptionsRequest().setInfo(info());
      client.runtimeOptionsPrompts(request, settle(done, failed));
    });
    assert.deepEqual([plugin.getVersion(), prompts.getPromptsList()], ["", []]);
  });

  /** Runs a script instead of the SDK's runner, because the runner would need an engine. */
  async function run(script: string): Promise<messages.RunResponse> {
    // Node loads this file before the runner. The script ends the process, so the runner does not
    // start.
    writeFileSync(join(directory, "first.cjs"), script);
    const request = new messages.RunRequest()
      .setInfo(info({ typescript: false, nodeargs: `--require ${join(directory, "first.cjs")}` }))
      .setPwd(directory)
      .setProject("p")
      .setStack("s")
      .setMonitorAddress("127.0.0.1:2");
    request.getConfigMap().set("p:a", "b");
    request.setConfigsecretkeysList(["p:c"]);
    return new Promise((done, failed) => {
      client.run(request, settle(done, failed));
    });
  }

  it("starts node with the project's arguments, the SDK's runner and the configuration", async () => {
    const seen = join(directory, "seen.json");
    await run(`
      const { PULUMI_CONFIG, PULUMI_CONFIG_SECRET_KEYS, PULUMI_NODEJS_TYPESCRIPT } = process.env;
      const [, runner, ...args] = process.argv;
      require("node:fs").writeFileSync(${JSON.stringify(seen)}, JSON.stringify({
        runner, args, PULUMI_CONFIG, PULUMI_CONFIG_SECRET_KEYS, PULUMI_NODEJS_TYPESCRIPT }));
      process.exit(0);`);
    const found = JSON.parse(readFileSync(seen, "utf8")) as Record<string, unknown>;
    assert.match(String(found["runner"]), /cmd\/run\/index\.js$/);
    assert.deepEqual(found["args"], [
      ...["--monitor", "127.0.0.1:2", "--engine", "127.0.0.1:1", "--project", "p"],
      ...["--root-directory", directory, "--stack", "s", "--pwd", directory, directory],
    ]);
    assert.deepEqual(
      [
        found["PULUMI_CONFIG"],
        found["PULUMI_CONFIG_SECRET_KEYS"],
        found["PULUMI_NODEJS_TYPESCRIPT"],
      ],
      ['{"p:a":"b"}', '["p:c"]', undefined],
    );
  });

  it("reports the exit code, and nothing else if the runner has shown the error", async () => {
    const ended = await run("process.exit(3)");
    assert.equal(ended.getError(), "Program exited with non-zero exit code: 3");
    const bailed = await run("process.exit(32)");
    assert.deepEqual([bailed.getError(), bailed.getBail()], ["", true]);
    const well = await run("process.exit(0)");
    assert.deepEqual([well.getError(), well.getBail()], ["", false]);
  });

  it("reports -1 for a stopped program, as recorded", async () => {
    const running = run("setTimeout(() => {}, 60000).ref(); process.kill(process.pid, 'SIGTERM')");
    assert.equal((await running).getError(), "Program exited with non-zero exit code: -1");
  });

  it("logs once that it is a stand-in", () => {
    assert.deepEqual(
      sent.map(({ text }) => text),
      ["The Node language host is stackadm's stand-in for the official one."],
    );
  });

  it("runs a plugin and forwards output and exit code", async () => {
    writeFileSync(
      join(directory, "first.cjs"),
      `process.stdout.write("out"); process.stderr.write("err"); process.exitCode = 5; process.exit();`,
    );
    const request = new messages.RunPluginRequest()
      .setInfo(info({ typescript: false, nodeargs: `--require ${join(directory, "first.cjs")}` }))
      .setPwd(directory)
      .setEnvList([`PATH=${process.env["PATH"] ?? ""}`, "A=b=c"]);
    const call = client.runPlugin(request);
    const seen = { out: "", err: "", code: -1 };
    const text = (bytes: Uint8Array | string): string => Buffer.from(bytes).toString();
    call.on("data", (message: messages.RunPluginResponse) => {
      if (message.hasStdout()) seen.out += text(message.getStdout());
      if (message.hasStderr()) seen.err += text(message.getStderr());
      if (message.hasExitcode()) seen.code = message.getExitcode();
    });
    await new Promise((done, failed) => call.on("end", done).on("error", failed));
    assert.deepEqual(seen, { out: "out", err: "err", code: 5 });
  });
});
