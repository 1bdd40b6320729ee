import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync } from "node:fs";
import {
  diagnostic,
  instanceType,
  networkType,
  sameOutputs,
  stepEvent,
  urnOf,
} from "../../../../support/engine/fake-engine.js";
import {
  fakeProject,
  startFakeCloud,
  type FakeCloud,
} from "../../../../support/cloud/fake-openstack.js";
import { golden } from "../../../../support/golden.js";
import { jsonLines, lastLine, Operator } from "../../../../support/commands/test-user.js";
import {
  clientKey,
  prepareReadyCloud,
  startFakeCluster,
  type FakeCluster,
} from "../../../../support/cloud/ready-cluster.js";

const password = "correct horse";
const made = (type: string, name: string): unknown[] => [
  stepEvent("resourcePreEvent", { type, name }),
  stepEvent("resOutputsEvent", { type, name }),
];
const summary = { timestamp: 9, summaryEvent: { durationSeconds: 9, resourceChanges: {} } };

describe("`stackadm up`", function () {
  this.timeout(120_000);
  let cloud: FakeCloud;
  let cluster: FakeCluster;
  let operator: Operator;
  beforeEach(async () => {
    cloud = await startFakeCloud();
    prepareReadyCloud(cloud);
    cluster = await startFakeCluster();
    operator = new Operator(cloud.environment({ OS_PASSWORD: password }));
    operator.engine.outputs(cluster.outputs);
    operator.engine.runs({
      up: { events: [...made(networkType, "net"), ...made(instanceType, "vm"), summary] },
    });
  });
  afterEach(async () => {
    assert.deepEqual(operator.leftovers(), [], "nothing stays in the temporary directory");
    operator.remove();
    await cluster.close();
    await cloud.close();
  });
  /** Replaces the parts of the output that differ between runs. */
  const readable = (text: string): string =>
    text
      .replaceAll(operator.home, "HOME")
      .replaceAll(cloud.authUrl, "http://cloud.example/identity")
      .replaceAll(/work\/dev-[0-9a-f]{8}/g, "work/dev-HASH")
      .replaceAll(/(\d+ min )?\d+ s\b/g, "N s")
      .replaceAll(/^\.\.\. .*\n/gm, "")
      .replaceAll(/ +(?=take|see|look)/g, "  ");

  /** Replaces what differs between runs. Removes progress, because its moments differ. */
  const readableEvents = (text: string): string =>
    readable(text)
      .replaceAll(/^.*"state":"progress".*\n/gm, "")
      .replaceAll(/"operation":"[0-9a-f-]{36}"/g, '"operation":"ID"')
      .replaceAll(/"n":\d+/g, '"n":1')
      .replaceAll(/"at":"[^"]+"/g, '"at":"2026-01-02T03:04:05.000Z"')
      .replaceAll(/"(seconds|milliseconds)":[\d.]+/g, '"$1":1');

  it("prints nodes, times and next commands on standard output, and progress on standard error", async () => {
    const { code, out, err } = await operator.start(["up"]).ended;
    assert.equal(code, 0, err);
    golden("cli/up-result.txt", readable(out));
    golden("cli/up-progress.txt", readable(err));
  });

  it("warns below the next commands that the local kubectl is too old", async () => {
    operator.kubectl("v1.29.0");
    const { code, out } = await operator.run("up");
    assert.equal(code, 0);
    assert.match(
      out,
      /check the cluster\n! kubectl of this machine is v1\.29\.0, [^\n]+ install [^\n]+\n$/,
    );
  });

  it("writes the kubeconfig for its owner only, and never prints the client key", async () => {
    const { out, err } = await operator.run("up");
    const path = operator.kubeconfig();
    assert.ok(out.includes(path));
    assert.equal(readFileSync(path, "utf8"), cluster.kubeconfig);
    assert.equal(statSync(path).mode & 0o777, 0o600);
    assert.equal(statSync(operator.state()).mode & 0o077, 0);
    assert.ok(!`${out}${err}`.includes(clientKey));
  });

  it("prints JSON lines: events and steps during the run, one result at the end", async () => {
    const { code, out, err } = await operator.run("up", "--json");
    assert.deepEqual([code, err], [0, ""]);
    const lines = jsonLines(out);
    const [backend, queued] = lines;
    const url = `file://${operator.state("pulumi")}`;
    assert.deepEqual(backend, { type: "backend", stack: "dev", url, chosenBy: "default" });
    assert.deepEqual(queued, { ...queued, type: "queued", n: 1, name: "up", behind: 0 });
    const first = lines.find(({ type }) => type === "cluster");
    assert.deepEqual(first, {
      ...first,
      type: "cluster",
      stack: "dev",
      clusters: ["dev"],
      identities: [],
      held: false,
      place: { cloud: cloud.authUrl, region: "one", project: { id: fakeProject, name: "demo" } },
    });
    const resources = lines.filter(({ type }) => type === "resource");
    assert.deepEqual(
      resources.map(({ state }) => state),
      ["started", "finished", "started", "finished"],
    );
    assert.ok(lines.some(({ type, ok }) => type === "done" && ok === true));
    assert.equal(lines.filter(({ type }) => type === "result").length, 1);
    const result = lastLine(out);
    assert.deepEqual(
      [result["type"], result["ok"], result["kubeconfig"], result["apiEndpoint"]],
      ["result", true, operator.kubeconfig(), "https://203.0.113.7:6443"],
    );
    assert.ok(!out.includes(clientKey));
    golden("cli/up-events.jsonl", readableEvents(out));
  });

  it("hides passwords that the engine or the program prints, in text and JSON", async () => {
    const events = [diagnostic(`sign-in with ${password} refused`, "warning"), summary];
    const stdout = `the program prints ${password}\n`;
    operator.engine.runs({ up: { events, stdout } });
    for (const args of [["up"], ["up", "--json"]]) {
      const { code, out, err } = await operator.run(...args);
      assert.equal(code, 0);
      assert.match(out + err, /sign-in with \[secret\] refused/);
      assert.ok(!(out + err).includes(password), args.join(" "));
    }
  });

  it("creates nothing and exits with code 6 with `--expect-no-changes` if changes are pending", async () => {
    const events = [stepEvent("resourcePreEvent", { type: networkType, name: "net" })];
    operator.engine.runs({ preview: { events } });
    const { code, out, err } = await operator.run("up", "--expect-no-changes");
    assert.deepEqual([code, out], [6, ""]);
    assert.match(
      err,
      /\nerror: No change was expected, .*\n {2}create Network 'net'\n {2}`stackadm/,
    );
    assert.deepEqual(operator.engine.operations(), ["preview"]);
  });

  it("checks the cloud first, creates nothing if the cluster does not fit, and reports all problems", async () => {
    cloud.on("GET /image/images", { body: { images: [] } });
    cloud.on("GET /compute/limits", {
      body: { limits: { absolute: { maxTotalInstances: 3, totalInstancesUsed: 2 } } },
    });
    const { code, out, err } = await operator.run("up");
    assert.deepEqual([code, out], [3, ""]);
    golden("cli/up-does-not-fit.txt", readable(err));
    assert.deepEqual(operator.engine.operations(), []);
    const forced = await operator.run("up", "--force");
    assert.equal(forced.code, 0, "--force asks for nothing but names");
  });

  it("refuses names of foreign servers, but accepts servers that the stack already holds", async () => {
    const ids = ["a", "b", "c"];
    const names = ["dev-control-plane-0", "dev-general-0", "dev-general-1"];
    const servers = ids.map((id, index) => ({ id, name: names[index] }));
    cloud.on("GET /compute/servers/detail", { body: { servers } });
    const refused = await operator.run("up");
    assert.equal(refused.code, 3);
    assert.match(refused.err, /the name 'dev-general-0' is taken by b/);
    const forced = await operator.run("up", "--force");
    assert.equal(forced.code, 3, "objects of other owners are refused in any case");
    assert.match(forced.err, /the name 'dev-general-0' is taken by b/);
    assert.deepEqual(operator.engine.operations(), []);
    operator.engine.state({
      resources: ids.map((id) => ({ urn: urnOf(instanceType, id), type: instanceType, id })),
    });
    assert.equal((await operator.run("up")).code, 0);
  });

  it("starts each engine command once for an existing stack, except `version`", async () => {
    const words = (): string[] =>
      operator.engine
        .calls()
        .map((call) => call.replace(/ --.*/, ""))
        .sort();
    operator.engine.state({ resources: [] });
    operator.engine.runs({ up: { events: [sameOutputs, summary] } });
    assert.equal((await operator.run("up")).code, 0);
    // Both the toolchain and the SDK query the version.
    const there = ["stack export", "stack output", "stack select", "up", "version", "version"];
    assert.deepEqual(words(), there);
    operator.engine.forget();
    assert.equal((await operator.run("up")).code, 0);
    const made = ["stack export", "stack init dev"];
    assert.deepEqual(words(), [...there, ...there, ...made].sort());
  });

  describe("for an unchanged cluster", () => {
    const reads = (): number =>
      operator.engine.calls().filter((call) => call.startsWith("stack output")).length;
    beforeEach(() => {
      operator.engine.state({ resources: [] });
      operator.engine.runs({ up: { events: [sameOutputs, summary] } });
    });

    it("verifies the cluster once, while the engine runs", async () => {
      const { code, out } = await operator.run("up", "--json");
      assert.equal(code, 0);
      const { nodes, ok } = lastLine(out) as { nodes?: unknown[]; ok?: boolean };
      assert.deepEqual([nodes?.length, ok, cluster.looks, reads()], [2, true, 1, 1]);
      assert.equal(readFileSync(operator.kubeconfig(), "utf8"), cluster.kubeconfig);
    });

    it("verifies the cluster again if a node is not ready yet", async () => {
      cluster.ready = false;
      const running = operator.start(["up"]);
      await running.says(/Verify the cluster/);
      cluster.ready = true;
      assert.equal((await running.ended).code, 0);
      assert.ok(cluster.looks > 1);
    });

    it("verifies the cluster again if outputs or resources changed", async () => {
      for (const events of [[summary], [...made(networkType, "net"), sameOutputs, summary]]) {
        const before = cluster.looks;
        operator.engine.runs({ up: { events } });
        assert.equal((await operator.run("up")).code, 0);
        assert.equal(cluster.looks, before + 2);
      }
    });
  });

  it("reports an engine failure in one sentence with the resource, and exits with code 1", async () => {
    const vm = { type: instanceType, name: "vm" };
    const text = "the image 'debian-12' was not found";
    const failing = {
      events: [
        stepEvent("resourcePreEvent", vm),
        diagnostic(`error: ${text}`, "error", urnOf(instanceType, "vm")),
        stepEvent("resOpFailedEvent", { ...vm, inputs: { userData: "all that it boots with" } }),
        diagnostic("update failed"),
        summary,
      ],
      stderr: "error: update failed\n",
      code: 255,
    };
    operator.engine.runs({ up: failing });
    const person = await operator.run("up");
    assert.deepEqual([person.code, person.out], [1, ""]);
    golden("cli/up-failed.txt", readable(person.err));
    const program = await operator.run("up", "--json");
    assert.equal(program.code, 1);
    assert.ok(!program.out.includes("boots with"));
    const { type, code, resource, urn } = lastLine(program.out);
    assert.deepEqual(
      { type, code, resource, urn },
      { type: "error", code: "NOT_FOUND", resource: "vm", urn: urnOf(instanceType, "vm") },
    );
    assert.ok(!existsSync(operator.kubeconfig()));
  });

  it("stops cleanly on the first Ctrl-C, and reports that completed work is kept", async () => {
    operator.engine.runs({
      up: {
        events: [stepEvent("resourcePreEvent", { type: networkType, name: "net" })],
        then: "wait",
      },
    });
    const running = operator.start(["up"]);
    await running.says(/> Network/);
    running.child.kill("SIGINT");
    const { code, err } = await running.ended;
    assert.equal(code, 130);
    assert.match(err, /^Stopping after the running steps\./m);
    assert.match(
      err,
      /error: Stopped on request\. What was done is kept\.\n {2}Run the same command/,
    );
  });

  it("stops cleanly when its terminal closes, also on repeated SIGHUP", async () => {
    const events = [stepEvent("resourcePreEvent", { type: networkType, name: "net" })];
    operator.engine.runs({ up: { events, then: "wait" } });
    const running = operator.start(["up"]);
    await running.says(/> Network/);
    running.child.stdout?.destroy();
    running.child.kill("SIGHUP");
    running.child.kill("SIGHUP");
    const { code, err } = await running.ended;
    assert.equal(code, 130);
    assert.match(err, /^Stopping after the running steps\./m);
    assert.doesNotMatch(err, /Stopping immediately/);
  });

  it("stops on Ctrl-C during the verification of a cluster that is not ready", async () => {
    cluster.ready = false;
    const running = operator.start(["up"]);
    await running.says(/> Verify the cluster/);
    running.child.kill("SIGINT");
    const { code, err } = await running.ended;
    assert.match(err, /error: Stopped on request\./);
    assert.equal(code, 130);
  });
});
