import assert from "node:assert/strict";
import { existsSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  instanceType,
  networkType,
  stepEvent,
  urnOf,
} from "../../../support/engine/fake-engine.js";
import {
  fakeProject,
  startFakeCloud,
  type FakeCloud,
} from "../../../support/cloud/fake-openstack.js";
import { golden } from "../../../support/golden.js";
import { jsonLines, lastLine, Operator } from "../../../support/commands/test-user.js";
import {
  clientKey,
  prepareReadyCloud,
  startFakeCluster,
  type FakeCluster,
} from "../../../support/cloud/ready-cluster.js";

describe("a read-only command", function () {
  this.timeout(120_000);
  let cloud: FakeCloud;
  let cluster: FakeCluster;
  let operator: Operator;
  beforeEach(async () => {
    cloud = await startFakeCloud();
    prepareReadyCloud(cloud);
    cluster = await startFakeCluster();
    operator = new Operator(cloud.environment());
    operator.engine.state({});
    operator.engine.outputs(cluster.outputs);
  });
  afterEach(async () => {
    assert.deepEqual(operator.leftovers(), []);
    const changes = cloud.seen.filter(
      ({ method, path }) => method !== "GET" && !/tokens/.test(path),
    );
    assert.deepEqual(changes, []);
    assert.ok(operator.engine.operations().every((name) => name !== "up" && name !== "destroy"));
    operator.remove();
    await cluster.close();
    await cloud.close();
  });
  const holdIdentity = (): void => {
    const urn = urnOf("command:local:Command", "dev-identity");
    const outputs = { stdout: "0123456789ab" };
    operator.engine.state({
      resources: [{ urn, type: "command:local:Command", id: "i", outputs }],
    });
  };
  const livesIn = () => ({
    cloud: cloud.authUrl,
    region: "one",
    project: { id: fakeProject, name: "demo" },
  });
  const serversAre = (status: string): void => {
    const names = ["dev-control-plane-0", "dev-general-0"];
    const servers = names.map((name) => ({ id: `id-of-${name}`, name, status }));
    cloud.on("GET /compute/servers/detail", { body: { servers } });
  };

  describe("`stackadm status`", () => {
    it("shows the machines from the cloud and the nodes from Kubernetes", async () => {
      serversAre("ACTIVE");
      holdIdentity();
      const { code, out, err } = await operator.start(["status"]).ended;
      assert.deepEqual([code, err], [0, operator.backendLine()]);
      golden("cli/status-table.txt", out.replace(cloud.authUrl, "http://cloud.example/identity"));
    });

    it("exits with code 5 if a node is not Ready, with the reason and the missing server", async () => {
      cluster.ready = false;
      const { code, out, err } = await operator.run("status");
      assert.deepEqual([code, err], [5, operator.backendLine()]);
      assert.match(out, /^dev-general-0 +general +zone-b +GONE$/m);
      assert.match(out, /^dev-general-0 .* no: no network plugin yet$/m);
      const [result, error] = jsonLines((await operator.run("status", "--json")).out).slice(1);
      assert.deepEqual([result?.["type"], result?.["ok"]], ["result", false]);
      assert.deepEqual([error?.["type"], error?.["code"]], ["error", "VERIFY_FAILED"]);
    });

    it("exits with code 5 if a server is gone or stopped, although its node is still Ready", async () => {
      const servers = [{ id: "id-of-dev-control-plane-0", name: "cp", status: "SHUTOFF" }];
      cloud.on("GET /compute/servers/detail", { body: { servers } });
      const { code, out, err } = await operator.run("status");
      assert.deepEqual([code, err], [5, operator.backendLine()]);
      assert.match(out, /^! dev-control-plane-0 does not run, .* `openstack server start cp`/m);
      assert.match(out, /^! the server of dev-general-0 .*: `stackadm up --refresh` recreates/m);
      assert.match(out, /^dev-general-0 +general .* yes$/m);
      const [result, error] = jsonLines((await operator.run("status", "--json")).out).slice(1);
      assert.deepEqual([result?.["ok"], error?.["code"]], [false, "VERIFY_FAILED"]);
      assert.equal((result?.["cloudProblems"] as unknown[]).length, 2);
    });

    it("exits with code 5 if the API's floating IP is gone, and warns if Octavia is down", async () => {
      serversAre("ACTIVE");
      const [type, balancer] = [
        "openstack:networking/floatingIp:FloatingIp",
        "openstack:loadbalancer/loadBalancer:LoadBalancer",
      ];
      const provider = urnOf("pulumi:providers:openstack", "default");
      operator.engine.state({
        resources: [
          { urn: provider, type: "pulumi:providers:openstack", id: "p" },
          { urn: urnOf(type, "dev-api"), type, id: "f", provider: `${provider}::p` },
          { urn: urnOf(balancer, "dev-lb"), type: balancer, id: "l", provider: `${provider}::p` },
        ],
      });
      const down = { status: 404, body: "default backend - 404" };
      cloud.on("GET /load-balancer/lbaas/loadbalancers", down);
      const { code, out } = await operator.run("status");
      assert.equal(code, 5);
      assert.match(out, /^! the floating IP dev-api \(f\) does not exist .*up --refresh/m);
      assert.match(out, /^! the load balancers of the cluster were not checked: .*a proxy or/m);
      assert.doesNotMatch(out, /dev-lb/);
    });

    it("warns that the controllers' credential expires soon, and explains how to replace it", async () => {
      serversAre("ACTIVE");
      const type = "openstack:identity/applicationCredential:ApplicationCredential";
      const urn = urnOf(`stackadm:identity:ApplicationCredential$${type}`, "dev-credential");
      const expiresAt = new Date(Date.now() + 10.5 * 86_400_000).toISOString();
      operator.engine.state({ resources: [{ urn, type, id: "c", outputs: { expiresAt } }] });
      const { code, out } = await operator.run("status");
      assert.equal(code, 0);
      const [, warning = "", space] = out.split("\n");
      assert.match(warning, /^! the credential .* in 10 days: .* raise `credential\.generation` /);
      assert.equal(space, "");
      const { warnings } = lastLine((await operator.run("status", "--json")).out);
      assert.deepEqual(warnings, [warning.slice(2)]);
    });

    it("shows the certificate that expires first, and warns of an overdue renewal", async () => {
      serversAre("ACTIVE");
      const at = (days: number): string =>
        new Date(Date.now() + days * 86_400_000).toISOString().replace(/\.\d+/, "");
      const end = at(50);
      cluster.certificate = `${at(10)} ${end} pki/apiserver.crt`;
      const first = `First certificate to end: pki/apiserver.crt of dev-control-plane-0, at ${end}.`;
      const { out } = await operator.run("status");
      assert.ok(out.includes(`\n${first}\n`), out);
      assert.doesNotMatch(out, /^!/m);
      cluster.certificate = `${at(-1)} ${end} pki/apiserver.crt`;
      assert.match(
        (await operator.run("status")).out,
        /^! pki\/apiserver\.crt of dev-control-plane-0 ends at .* `journalctl -u stackadm-certificates`/m,
      );
    });

    it("shows the machines and reports the error if the Kubernetes API is unreachable", async () => {
      serversAre("SHUTOFF");
      await cluster.close();
      const { code, out, err } = await operator.run("status");
      assert.equal(code, 1);
      assert.match(out, /^dev-control-plane-0 .* SHUTOFF$/m);
      assert.match(
        err,
        /^State: [^\n]+\n\nerror: The Kubernetes API at 127\.0\.0\.1:\d+ cannot be reached: [^\n]+\n {2}[^\n]+\n {2}KUBERNETES_UNREACHABLE: [^\n]+\n$/,
      );
      const [result, error] = jsonLines((await operator.run("status", "--json")).out).slice(1);
      assert.deepEqual([result?.["ok"], error?.["code"]], [false, "KUBERNETES_UNREACHABLE"]);
      assert.equal((result?.["servers"] as { server: string }[])[0]?.server, "SHUTOFF");
    });

    it("prints everything in one JSON line", async () => {
      serversAre("ACTIVE");
      const { out } = await operator.run("status", "--json");
      const [first, line, ...more] = jsonLines(out);
      assert.deepEqual([first?.["type"], more], ["backend", []]);
      const { type, stack, ok, nodes, clusters, place, servers } = line ?? {};
      const [server] = servers as unknown[];
      const machine = { name: "dev-control-plane-0", role: "control plane", zone: "zone-a" };
      assert.deepEqual(server, { ...machine, server: "ACTIVE" });
      assert.deepEqual([type, stack, ok, clusters], ["result", "dev", true, ["dev"]]);
      assert.deepEqual(place, livesIn());
      assert.equal((nodes as unknown[]).length, 2);
    });
  });

  for (const command of ["status", "kubeconfig"])
    it(`reports that a stack has no cluster yet if its first \`up\` did not finish: ${command}`, async () => {
      operator.engine.outputs({});
      const { code, out, err } = await operator.run(command);
      assert.deepEqual([code, out], [1, ""]);
      assert.match(
        err,
        /^State: [^\n]+\n\nerror: [^\n{[]*no cluster yet[^\n{[]*\n {2}[^\n]*stackadm up[^\n]*\n {2}NOT_READY: \S+\n$/,
      );
      assert.ok(!existsSync(operator.kubeconfig()));
    });

  describe("`stackadm kubeconfig`", () => {
    it("prints only the path of a file that only its owner can read", async () => {
      const { code, out, err } = await operator.run("kubeconfig");
      const path = operator.kubeconfig();
      assert.deepEqual([code, out, err], [0, `${path}\n`, operator.backendLine()]);
      assert.equal(readFileSync(path, "utf8"), cluster.kubeconfig);
      assert.equal(statSync(path).mode & 0o777, 0o600);
    });

    it("prints the kubeconfig with `--print`, and then writes no file", async () => {
      const { out } = await operator.run("kubeconfig", "--print");
      assert.equal(out, cluster.kubeconfig);
      assert.ok(!existsSync(operator.kubeconfig()));
    });

    it("exits with code 1 for a stack that does not exist, and explains how to create it", async () => {
      writeFileSync(join(operator.package, "Pulumi.later.yaml"), "config: {}\n");
      operator.engine.refuses({ "stack export": "error: no stack named 'later' found\n" });
      const { code, err } = await operator.run("kubeconfig", "--stack", "later");
      assert.equal(code, 1);
      assert.equal(
        err.replace(operator.backendLine(), ""),
        "\nerror: The backend has no stack 'later'.\n  Create it with `stackadm up --stack later`, or set PULUMI_BACKEND_URL to the backend that has its state.\n  STACK_NOT_FOUND: docs/reference/failures.md#stack_not_found\n",
      );
    });
  });

  describe("`stackadm outputs`", () => {
    it("prints JSON that hides secrets without `--show-secrets`", async () => {
      const hidden = await operator.run("outputs");
      assert.equal((JSON.parse(hidden.out) as { kubeconfig: string }).kubeconfig, "[secret]");
      assert.ok(!hidden.out.includes(clientKey));
      const shown = await operator.run("outputs", "--show-secrets");
      const { kubeconfig } = JSON.parse(shown.out) as { kubeconfig: string };
      assert.equal(kubeconfig, cluster.kubeconfig);
    });

    it("hides secrets with `--json` too", async () => {
      const { out } = await operator.run("outputs", "--json");
      const outputs = lastLine(out)["outputs"] as Record<string, unknown>;
      assert.deepEqual([outputs["kubeconfig"], outputs["clusterName"]], ["[secret]", "dev"]);
    });
  });

  describe("`stackadm preview`", () => {
    const summary = { timestamp: 9, summaryEvent: { durationSeconds: 1, resourceChanges: {} } };

    it("prints a row for each resource that would change, in the engine's order", async () => {
      const steps = [
        { type: networkType, name: "net" },
        { type: instanceType, name: "vm", op: "replace" },
        { type: instanceType, name: "same", op: "same" },
      ];
      const events = steps.map((step) => stepEvent("resourcePreEvent", step));
      operator.engine.runs({ preview: { events: [...events, summary] } });
      const { code, out } = await operator.run("preview");
      assert.equal(code, 0);
      golden("cli/preview-table.txt", out);
      const plan = lastLine((await operator.run("preview", "--json")).out)["plan"] as unknown[];
      assert.deepEqual(plan[1], { operation: "replace", type: "Instance", name: "vm" });
    });

    it("prints the plan and exits with code 6 if it finds changes with `--expect-no-changes`", async () => {
      const events = [stepEvent("resourcePreEvent", { type: networkType, name: "net" }), summary];
      operator.engine.runs({ preview: { events } });
      const { code, out, err } = await operator.run("preview", "--expect-no-changes");
      assert.equal(code, 6);
      assert.match(out, /^create +Network +net$/m);
      assert.match(err, /\nerror: No change was expected, but `up` would change:\n {2}create Net/);
      const lines = jsonLines((await operator.run("preview", "--expect-no-changes", "--json")).out);
      assert.deepEqual(
        lines.slice(-2).map(({ type, ok, code: name }) => [type, ok ?? name]),
        [
          ["result", false],
          ["error", "UNEXPECTED_CHANGES"],
        ],
      );
      operator.engine.runs({ preview: { events: [summary] } });
      assert.equal((await operator.run("preview", "--expect-no-changes")).code, 0);
    });

    it("reports no changes, and passes `--refresh` to the engine", async () => {
      operator.engine.runs({ preview: { events: [summary] } });
      const { code, out } = await operator.run("preview", "--refresh");
      assert.deepEqual([code, out], [0, "No changes.\n"]);
      assert.ok(operator.engine.calls().some((call) => /^preview .*--refresh/.test(call)));
    });
  });

  for (const command of ["preview", "refresh"])
    it(`identifies the backend and the cluster first, in a line or in a JSON event: \`stackadm ${command}\``, async () => {
      holdIdentity();
      const { err } = await operator.run(command);
      const line = `Cluster 'dev' (identity 0123456789ab) in cloud '${cloud.authUrl}', region 'one', project 'demo'`;
      const said = err.split("\n").filter((one) => !one.startsWith("> "));
      assert.deepEqual(said.slice(0, 2), [operator.backendLine().trimEnd(), line]);
      const lines = jsonLines((await operator.run(command, "--json")).out);
      const [backend] = lines;
      const url = `file://${operator.state("pulumi")}`;
      assert.deepEqual(backend, { type: "backend", stack: "dev", url, chosenBy: "default" });
      const first = lines.slice(1).find(({ type }) => type !== "step" && type !== "queued");
      assert.deepEqual(first, {
        ...first,
        type: "cluster",
        stack: "dev",
        clusters: ["dev"],
        identities: ["0123456789ab"],
        held: true,
        place: livesIn(),
      });
      assert.ok(
        lines.every(({ text }) => text !== line),
        "it is said once",
      );
    });

  it("continues without the cloud if the cloud refuses the sign-in: `stackadm refresh`", async () => {
    holdIdentity();
    cloud.on("POST /identity/v3/auth/tokens", { status: 401, body: {} });
    const { code, err } = await operator.run("refresh");
    assert.equal(code, 0);
    assert.match(err, /^Cluster 'dev' \(identity 0123456789ab\)$/m);
  });

  it("counts the resources that differ from the state: `stackadm refresh`", async () => {
    const vm = { type: instanceType, name: "vm" };
    operator.engine.runs({
      refresh: {
        events: [
          stepEvent("resourcePreEvent", { ...vm, op: "refresh" }),
          stepEvent("resOutputsEvent", { ...vm, op: "update" }),
        ],
      },
    });
    const { code, out, err } = await operator.run("refresh");
    assert.deepEqual([code, out], [0, "1 resources differed from the state.\n"]);
    assert.match(err, /^\+ Read the cluster's resources into the state \(\d+ s\)$/m);
    const expected = await operator.run("refresh", "--expect-no-changes");
    assert.equal(expected.code, 6);
    assert.match(expected.err, /\nerror: 1 resources of 'dev' differed from the state; /);
    operator.engine.runs({});
    const { out: lines } = await operator.run("refresh", "--json");
    assert.deepEqual(lastLine(lines), { type: "result", ok: true, changed: 0 });
  });
});
