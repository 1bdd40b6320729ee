import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { instanceType, stepEvent, urnOf } from "../../../support/engine.js";
import { startFakeCloud, type FakeCloud } from "../../../support/fake-openstack.js";
import { lastLine, Operator } from "../../../support/operator.js";
import { equip } from "../../../support/ready-cluster.js";

describe("`stackadm destroy`", function () {
  this.timeout(120_000);
  let cloud: FakeCloud;
  let operator: Operator;
  let servers: { id: string; name: string; metadata?: Record<string, string> }[];
  beforeEach(async () => {
    cloud = await startFakeCloud();
    equip(cloud);
    servers = [{ id: "foreign", name: "database" }];
    cloud.on("GET /compute/servers/detail", () => ({ body: { servers } }));
    operator = new Operator(cloud.environment());
    mkdirSync(operator.state(), { recursive: true });
    writeFileSync(operator.state("kubeconfig-dev"), "of a cluster that was");
  });
  afterEach(async () => {
    assert.deepEqual(operator.leftovers(), []);
    operator.remove();
    await cloud.close();
  });
  const kubeconfig = (): boolean => existsSync(operator.state("kubeconfig-dev"));
  const deleted = (): string[] =>
    cloud.seen.filter(({ method }) => method === "DELETE").map(({ path }) => path);
  const held = (id: string): void => {
    operator.engine.state({
      resources: [{ urn: urnOf(instanceType, "vm"), type: instanceType, id }],
    });
  };

  it("takes the stack away, then says what it asked for before it says that nothing is left", async () => {
    held("s1");
    const vm = { type: instanceType, name: "vm", op: "delete" };
    const events = [stepEvent("resourcePreEvent", vm), stepEvent("resOutputsEvent", vm)];
    operator.engine.runs({ destroy: { events } });
    const { code, out, err } = await operator.run("destroy");
    assert.equal(code, 0);
    assert.match(err, /^> Servers: removing \(about .*\)$/m);
    assert.match(out, /^Servers +\d+ s +1$/m);
    assert.match(
      out,
      /^Nothing of cluster 'dev' is left in the project \(asked for every load bal/m,
    );
    assert.ok(cloud.seen.some(({ path }) => path.startsWith("/load-balancer/lbaas/loadbalancers")));
    assert.equal(operator.engine.stateNow(), undefined);
    assert.equal(kubeconfig(), false);
    assert.deepEqual(deleted(), []);
  });

  it("is well when there is nothing, as often as it is asked", async () => {
    for (let time = 0; time < 2; time += 1) {
      const { code, out } = await operator.run("destroy");
      assert.equal(code, 0);
      assert.match(out, /^Nothing of cluster 'dev' is left/);
    }
    assert.deepEqual(operator.engine.operations(), []);
  });

  it("deletes what a controller left with the cluster's mark, and nothing else", async () => {
    servers.push({ id: "late", name: "dev-x", metadata: { "stackadm-cluster": "dev" } });
    cloud.on("DELETE /compute/servers/late", () => {
      servers.pop();
      return { status: 204 };
    });
    const { code, out } = await operator.run("destroy", "--json");
    assert.equal(code, 0);
    assert.deepEqual(deleted(), ["/compute/servers/late"]);
    const { type, ok, swept } = lastLine(out);
    assert.deepEqual({ type, ok, swept }, { type: "result", ok: true, swept: 1 });
  });

  it("never says that nothing is left while something is that the stack held", async () => {
    held("s1");
    servers.push({ id: "s1", name: "dev-general-0" });
    const { code, out, err } = await operator.run("destroy");
    assert.deepEqual([code, out], [1, ""]);
    assert.match(
      err,
      /error: Still there: server 'dev-general-0'\.\n {2}Run `npx stackadm destroy`/,
    );
    assert.equal(kubeconfig(), true);
  });

  it("works with a stack file that has become invalid since", async () => {
    const settings = "config:\n  stackadm:cluster:\n    image: 7\n";
    writeFileSync(join(operator.package, "Pulumi.aged.yaml"), settings);
    const { code, out } = await operator.run("destroy", "--stack", "aged");
    assert.equal(code, 0);
    assert.match(out, /^Nothing of cluster 'aged' is left/);
  });

  it("keeps stack and kubeconfig when the engine could not finish", async () => {
    held("s1");
    operator.engine.runs({ destroy: { code: 255, stderr: "error: dial tcp: i/o timeout\n" } });
    const { code, err } = await operator.run("destroy");
    assert.equal(code, 1);
    assert.match(err, /\nerror: [^\n]+\n {2}[^\n]+\n$/);
    assert.ok(operator.engine.stateNow());
    assert.equal(kubeconfig(), true);
  });

  it("stops in good order at Ctrl-C, and its second start goes on", async () => {
    held("s1");
    const vm = { type: instanceType, name: "vm", op: "delete" };
    operator.engine.runs({
      destroy: { events: [stepEvent("resourcePreEvent", vm)], then: "wait" },
    });
    const running = operator.start(["destroy"]);
    await running.says(/> Servers: removing/);
    running.child.kill("SIGTERM");
    assert.equal((await running.ended).code, 130);
    assert.ok(operator.engine.stateNow());
    operator.engine.runs({});
    assert.equal((await operator.run("destroy")).code, 0);
    assert.equal(operator.engine.stateNow(), undefined);
  });
});
