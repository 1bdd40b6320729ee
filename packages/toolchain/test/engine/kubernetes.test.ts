import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import type { Stack } from "@pulumi/pulumi/automation/index.js";
import { deleteEmptyAttributes } from "../../../../automation/pulumi/pulumi-internals.js";
import { selectKubernetesPlugin } from "../../builds.js";
import { getMapAt, getTextAt } from "../../stand-ins/kubernetes/objects/json.js";
import { FakeApiServer } from "../unit/stand-ins/kubernetes/support/fake-api-server.js";
import { openStack, writePlugin } from "./kubernetes-program.js";
import type { ProgramOptions } from "./kubernetes-program.js";
import { descendants, isAlive, pulumiDirectory } from "./kubernetes-support.js";

/*
 * Tests the stand-in, or the built plugin if STACKADM_KUBERNETES_PLUGIN selects it, with the real
 * engine. The programs run in the process of the test and use a fake API server. The fake server
 * implements the protocol, but not all rules of Kubernetes. Similar programs were tested manually
 * with a real kube-apiserver.
 */
const password = "canary-7f3a";
const built = selectKubernetesPlugin(process.env) === "built";

describe("Kubernetes plugin with the real engine", function () {
  // Each operation starts the CLI and the plugin. This takes seconds on an idle machine, and up to
  // a minute on a busy machine.
  this.timeout(300_000);
  let directory: string;
  let api: FakeApiServer;
  const path = process.env["PATH"] ?? "";

  before(() => {
    // The Automation API searches the CLI in the PATH of this process.
    process.env["PATH"] = [pulumiDirectory(process.env), path].join(delimiter);
  });
  after(() => {
    process.env["PATH"] = path;
  });
  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "stackadm-kubernetes-"));
    api = await FakeApiServer.start();
    writePlugin(directory);
  });
  afterEach(async () => {
    await api.stop();
    rmSync(directory, { recursive: true });
  });

  type Options = Partial<ProgramOptions>;
  const optionsOf = (options: Options): ProgramOptions => ({
    kubeconfig: api.kubeconfig(),
    password,
    ...options,
  });
  const stackOf = (options: Options = {}): Promise<Stack> =>
    openStack(directory, optionsOf(options));
  const changesOf = async (stack: Promise<Stack>): Promise<object> => ({
    ...(await (await stack).up()).summary.resourceChanges,
  });
  const uidOf = (kind: string, name: string): string =>
    getTextAt(api.find(kind, name, "demo"), "metadata", "uid");

  it("creates all objects, changes nothing in a second run, and destroys all objects", async () => {
    const stack = await stackOf();
    const first = await stack.up();
    assert.deepEqual({ ...first.summary.resourceChanges }, { create: 7 });
    const encoded = Buffer.from(password).toString("base64");
    assert.equal(getTextAt(api.find("Secret", "password", "demo"), "data", "p"), encoded);
    assert.equal(first.outputs["uid"]?.value, uidOf("Deployment", "web"));
    // The test reads the file, because exportStack would decrypt the secrets.
    const state = readFileSync(join(directory, ".pulumi/stacks/stand-in/test.json"), "utf8");
    assert.match(state, /kubernetes:core\/v1:Secret/);
    for (const hidden of [password, encoded, api.token]) {
      assert.ok(!state.includes(hidden), "a secret is in the state in clear");
    }
    const before = api.writes();
    assert.deepEqual(await changesOf(stackOf()), { same: 7 });
    assert.deepEqual(api.writes(), before, "a second up writes nothing");
    await stack.destroy();
    assert.equal(api.find("Namespace", "demo"), undefined);
  });

  it("updates a Deployment in place; replaces a ConfigMap with new data delete-first, a renamed one create-first", async () => {
    await changesOf(stackOf());
    const [deployment, settings] = [uidOf("Deployment", "web"), uidOf("ConfigMap", "settings")];
    const changes = await changesOf(stackOf({ data: "2", replicas: 2 }));
    assert.deepEqual(changes, { same: 5, update: 1, replace: 1 });
    assert.equal(uidOf("Deployment", "web"), deployment);
    assert.equal(getMapAt(api.find("Deployment", "web", "demo"), "spec")["replicas"], 2);
    assert.notEqual(uidOf("ConfigMap", "settings"), settings);
    const start = api.writes().length;
    await changesOf(stackOf({ data: "2", replicas: 2, name: "renamed" }));
    assert.deepEqual(api.writes().slice(start), [
      "PATCH /api/v1/namespaces/demo/configmaps/renamed",
      "DELETE /api/v1/namespaces/demo/configmaps/settings",
    ]);
  });

  it("previews as many rows as the update with an unreachable or unknown cluster", async () => {
    const rows = async (options: Options) =>
      (await (await stackOf(options)).preview()).changeSummary;
    assert.deepEqual(await rows({ kubeconfig: api.kubeconfig(1) }), { create: 7 });
    assert.deepEqual(await rows({ unknown: true }), { create: 9 });
    assert.deepEqual(api.writes(), []);
    assert.deepEqual(await changesOf(stackOf({ unknown: true })), { create: 9 });
  });

  it("refuses changes to an unreachable cluster and keeps the state", async () => {
    const stack = await stackOf();
    await stack.up();
    const dead = await stackOf({ replicas: 3, kubeconfig: api.kubeconfig(1) });
    await assert.rejects(dead.up(), /Kubernetes cluster is unreachable.*connection refused/s);
    const state = await stack.exportStack();
    const { resources } = state.deployment as { resources: { type: string }[] };
    assert.equal(resources.filter((one) => one.type.startsWith("kubernetes:")).length, 5);
  });

  it("keeps an object that did not become ready and continues in the next run", async () => {
    api.idle.add("Deployment");
    const stack = await stackOf({ timeout: "1s" });
    await assert.rejects(stack.up(), /'web' timed out waiting to be Ready/);
    const { resources } = (await stack.exportStack()).deployment as {
      resources: { urn: string; id?: string; initErrors?: string[] }[];
    };
    const web = resources.find((one) => one.urn.endsWith("::web"));
    assert.equal(web?.id, "demo/web");
    assert.match(web.initErrors?.join("\n") ?? "", /timed out waiting to be Ready/);
    api.idle.clear();
    assert.deepEqual(await changesOf(stackOf({ timeout: "1s" })), { same: 6, update: 1 });
  });

  const ending = built ? "" : "; the plugin ends with it";
  it(`continues after the engine was killed during a wait${ending}`, async () => {
    api.idle.add("Deployment");
    const options = optionsOf({ timeout: "5m" });
    const script = require.resolve("./kubernetes-program.ts");
    const args = ["--import", "tsx", script, directory, JSON.stringify(options)];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "pipe"] });
    let said = "";
    child.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
    const { pid } = child;
    assert.ok(pid);
    while (!api.find("Deployment", "web", "demo")) {
      assert.equal(child.exitCode, null, said);
      await delay(50);
    }
    const uid = uidOf("Deployment", "web");
    const all = descendants(pid);
    const engine = all.find((one) => one.name === "pulumi");
    assert.ok(engine, "the engine is a descendant of the program");
    const plugins = descendants(engine.pid);
    assert.ok(plugins.length > 0, "the plugin is a child of the engine");
    process.kill(engine.pid, "SIGKILL");
    // The official plugin checks only every 5 minutes whether the engine still runs. So the test
    // kills the plugin.
    if (built) for (const plugin of plugins) process.kill(plugin.pid, "SIGKILL");
    for (const plugin of plugins) while (isAlive(plugin.pid)) await delay(50);
    child.kill("SIGKILL");
    api.idle.clear();
    // If the engine was killed while it wrote the state, the state may have an empty attributes
    // file. The service calls the same function if it cannot read a state.
    const backend = pathToFileURL(directory).href;
    deleteEmptyAttributes({ backend, project: "stand-in", stack: "test" });
    const stack = await stackOf({ timeout: "1m" });
    await stack.cancel();
    const again = await stack.up();
    assert.equal(again.summary.result, "succeeded");
    // The first `up` created objects without recording them. Without upsertExistingObjects, the
    // second `up` would fail for these objects: "already exists".
    assert.equal(uidOf("Deployment", "web"), uid);
  });
});
