import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { createClusterService } from "../../../automation/cluster-service.js";
import { run } from "../../../base/run-command.js";
import { inProcess, type Ended } from "../../support/commands/in-process.js";
import { jsonLines } from "../../support/commands/test-user.js";
import { createListeningService } from "../../support/engine/listening-service.js";
import { S3Server } from "../support/s3-server.js";
import { toolDirectory } from "../support/tools.js";

const root = resolve(__dirname, "..", "..", "..");
const program = `
const command = require(${JSON.stringify(join(root, "node_modules", "@pulumi", "command"))});
new command.local.Command("made", { create: "echo made" });
exports.by = "plain pulumi";
`;

describe("a stack of plain `pulumi`, after `pulumi login`", function () {
  this.timeout(240_000);
  let directory: string;
  let env: NodeJS.ProcessEnv;
  const before_ = process.env["XDG_STATE_HOME"];
  const urlOf = (...parts: string[]): string => pathToFileURL(join(directory, ...parts)).href;
  const project = (): string => join(directory, "project");
  const pulumi = (...args: string[]): Promise<{ stdout: string }> =>
    run("pulumi", [...args, "--non-interactive"], { cwd: project(), env });
  const stackadm = (args: readonly string[], more: NodeJS.ProcessEnv = {}): Promise<Ended> =>
    inProcess([...args, "--stack", "dev"], { env: { ...env, ...more }, cwd: project() });
  before(async () => {
    directory = mkdtempSync(join(tmpdir(), "stackadm-rule-"));
    for (const name of ["project", "team", "other", "home", "state"])
      mkdirSync(join(directory, name));
    const files = {
      "Pulumi.yaml": "name: rule\nruntime: { name: nodejs, options: { typescript: false } }\n",
      "Pulumi.dev.yaml": "config: {}\n",
      "package.json": '{ "name": "rule", "main": "index.js" }',
      "index.js": program,
    };
    for (const [name, text] of Object.entries(files)) writeFileSync(join(project(), name), text);
    symlinkSync(join(root, "node_modules"), join(project(), "node_modules"));
    process.env["XDG_STATE_HOME"] = join(directory, "state");
    env = {
      ...process.env,
      PULUMI_BACKEND_URL: undefined,
      PATH: `${toolDirectory()}${delimiter}${process.env["PATH"] ?? ""}`,
      XDG_STATE_HOME: join(directory, "state"),
      // The commands ignore the programs in their own cache, in which the tools of the tests may be.
      XDG_CACHE_HOME: join(directory, "cache"),
      PULUMI_HOME: join(directory, "home"),
      PULUMI_CONFIG_PASSPHRASE: "engine-tests",
      PULUMI_SKIP_UPDATE_CHECK: "true",
      PULUMI_DISABLE_AUTOMATIC_PLUGIN_ACQUISITION: "true",
      OS_AUTH_URL: "http://127.0.0.1:9/identity",
    };
    await pulumi("login", urlOf("team"));
    await pulumi("stack", "init", "dev");
    await pulumi("up", "--yes", "--skip-preview", "--stack", "dev");
  });
  after(() => {
    if (before_ === undefined) delete process.env["XDG_STATE_HOME"];
    else process.env["XDG_STATE_HOME"] = before_;
    rmSync(directory, { recursive: true, force: true });
  });

  it("is the stack of a service that names no backend", async () => {
    const service = createClusterService({ env, projectDirectory: project() });
    const { deployment } = (await service.state("dev")) ?? {};
    assert.ok(deployment?.resources?.some(({ type }) => type === "command:local:Command"));
    assert.deepEqual(await service.outputs("dev"), { by: "plain pulumi" });
  });

  it("is the stack of the commands, which name the backend and its source first", async () => {
    const { code, out, err } = await stackadm(["outputs"]);
    assert.equal(code, 0, err);
    assert.equal(err.split("\n")[0], `State: ${urlOf("team")} (pulumi login)`);
    assert.deepEqual(JSON.parse(out), { by: "plain pulumi" });
    const [first] = jsonLines((await stackadm(["outputs", "--json"])).out);
    const url = urlOf("team");
    assert.deepEqual(first, { type: "backend", stack: "dev", url, chosenBy: "login" });
    assert.ok(!existsSync(join(directory, "state", "stackadm", "passphrase")));
  });

  it("is the stack of `pulumi` in the shell of `stackadm env`", async () => {
    const variables = (await stackadm(["env"])).out
      .split("\n")
      .filter((line) => line.startsWith("export ") && !line.includes("SSH_AUTH_SOCK"))
      .join("\n");
    assert.ok(variables.includes(`export PULUMI_BACKEND_URL=${urlOf("team")}`), variables);
    const script = `${variables}\npulumi whoami --verbose\npulumi stack output by --stack dev`;
    const { stdout } = await run("sh", ["-ec", script], { cwd: project(), env });
    assert.match(stdout, new RegExp(`^Backend URL: ${urlOf("team")}$`, "m"));
    assert.match(stdout, /^plain pulumi$/m);
  });

  it("is named, and nothing is done, if another backend is chosen", async () => {
    const more = { PULUMI_BACKEND_URL: urlOf("other") };
    const sentence = `The backend ${urlOf("other")} has no stack 'dev', but ${urlOf("team")} has it.`;
    for (const command of [["outputs"], ["refresh"], ["destroy", "--yes"]]) {
      const { code, err } = await stackadm(command, more);
      assert.equal(code, 1);
      assert.ok(err.includes(`error: ${sentence}`), err);
    }
    const service = createListeningService({
      env: { ...env, ...more },
      projectDirectory: project(),
    });
    await assert.rejects(service.up("dev", { preflight: false, verify: false }), {
      code: "STACK_NOT_FOUND",
      sentence,
    });
    const stacks = join(directory, "other", ".pulumi", "stacks", "rule", "dev.json");
    assert.ok(!existsSync(stacks), "a second stack was created");
  });

  it("is named if it is in a bucket, for which the engine is asked", async () => {
    const bucket = await S3Server.start();
    try {
      const { PULUMI_BACKEND_URL: url = "", ...access } = bucket.environment;
      Object.assign(env, access);
      const exported = (await pulumi("stack", "export", "--stack", "dev")).stdout;
      await pulumi("login", url);
      await pulumi("stack", "init", "dev");
      const options = { cwd: project(), env, input: exported };
      await run("pulumi", ["stack", "import", "--stack", "dev"], options);
      const { code, err } = await stackadm(["outputs"], { PULUMI_BACKEND_URL: urlOf("other") });
      assert.equal(code, 1);
      assert.ok(err.includes(`has no stack 'dev', but ${url} has it.`), err);
      bucket.stop();
      const refresh = await stackadm(["refresh"], { PULUMI_BACKEND_URL: urlOf("other") });
      assert.ok(refresh.err.includes(`! ${url} does not answer, so it is unknown`), refresh.err);
    } finally {
      bucket.stop();
    }
  });
});
