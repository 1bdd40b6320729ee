import assert from "node:assert/strict";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { stringify } from "yaml";
import {
  instanceType,
  networkType,
  stepEvent,
  urnOf,
} from "../../../../support/engine/fake-engine.js";
import { startFakeCloud, type FakeCloud } from "../../../../support/cloud/fake-openstack.js";
import { lastLine, Operator } from "../../../../support/commands/test-user.js";
import { prepareReadyCloud } from "../../../../support/cloud/ready-cluster.js";

const addressOf = (server: Server): string =>
  `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

describe("`stackadm destroy`", function () {
  this.timeout(120_000);
  let cloud: FakeCloud;
  let operator: Operator;
  let servers: { id: string; name: string; metadata?: Record<string, string> }[];
  beforeEach(async () => {
    cloud = await startFakeCloud();
    prepareReadyCloud(cloud);
    servers = [{ id: "foreign", name: "database" }];
    cloud.on("GET /compute/servers/detail", () => ({ body: { servers } }));
    operator = new Operator(cloud.environment());
    mkdirSync(operator.state(), { recursive: true });
    writeFileSync(operator.kubeconfig(), "of a cluster that was");
    writeFileSync(timeline(), "of its last up");
  });
  afterEach(async () => {
    assert.deepEqual(operator.leftovers(), []);
    operator.remove();
    await cloud.close();
  });
  const kubeconfig = (): boolean => existsSync(operator.kubeconfig());
  const timeline = (): string => join(dirname(operator.kubeconfig()), "timeline.html");
  const deleted = (): string[] =>
    cloud.seen.filter(({ method }) => method === "DELETE").map(({ path }) => path);
  const identity = {
    urn: urnOf("command:local:Command", "dev-identity"),
    type: "command:local:Command",
    id: "i",
    outputs: { stdout: "0123456789ab" },
  };
  const held = (id: string, ...more: readonly unknown[]): void => {
    const server = { urn: urnOf(instanceType, "vm"), type: instanceType, id };
    operator.engine.state({ resources: [identity, server, ...more] });
  };

  it("deletes the stack and its local files, and reports what it checked in the project", async () => {
    held("s1");
    const vm = { type: instanceType, name: "vm", op: "delete" };
    const events = [stepEvent("resourcePreEvent", vm), stepEvent("resOutputsEvent", vm)];
    operator.engine.runs({ destroy: { events } });
    const { code, out, err } = await operator.start(["destroy", "--yes"]).ended;
    assert.equal(code, 0);
    assert.match(err, /^> Servers: removing \(about .*\)$/m);
    // The fake engine answers the deletion of the stack with the same events.
    assert.match(out, /^Servers +\d+ s +2$/m);
    assert.match(out, /^Nothing of cluster 'dev' is left in the project \(checked every load bal/m);
    assert.ok(cloud.seen.some(({ path }) => path.startsWith("/load-balancer/lbaas/loadbalancers")));
    assert.equal(operator.engine.stateNow(), undefined);
    assert.deepEqual([kubeconfig(), existsSync(timeline())], [false, false]);
    assert.deepEqual(deleted(), []);
  });

  it("reports the kinds of objects that the cloud does not show as not checked", async () => {
    const path = "GET /load-balancer/lbaas/loadbalancers";
    cloud.on(path, { status: 403, body: {} });
    held("s1");
    const unseen = /^Not checked, because .*: load balancers\. A user with a role /m;
    for (const said of [
      /^Nothing of cluster 'dev' is left among what the cloud shows \(checked every server, f/m,
      /^There is nothing to destroy: .* and no object among what the cloud shows has the name/m,
    ]) {
      const { code, out, err } = await operator.run("destroy", "--yes");
      assert.equal(code, 0, err);
      assert.match(out, said);
      assert.match(out, unseen);
    }
    cloud.on(path, { body: { loadbalancers: [] } });
    assert.doesNotMatch((await operator.run("destroy", "--yes")).out, /Not looked at/);
  });

  it("succeeds without starting the engine if the state has no resources, also a second time", async () => {
    for (let time = 0; time < 2; time += 1) {
      const { code, out } = await operator.run("destroy", "--yes");
      assert.equal(code, 0);
      assert.match(
        out,
        /^There is nothing to destroy: the state at file:\S+ has no resources of stack/,
      );
    }
    assert.deepEqual(operator.engine.operations(), []);
    assert.equal(kubeconfig(), true, "it may be of a cluster whose state is elsewhere");
  });

  it("refuses to delete a running cluster of the same name whose state is in another backend", async () => {
    const metadata = { "stackadm-cluster": "dev", "stackadm-identity": "0123456789ab" };
    servers.push({ id: "alive", name: "dev-general-0", metadata });
    const { code, out, err } = await operator.run("destroy", "--yes");
    assert.deepEqual([code, out], [1, ""]);
    assert.match(
      err,
      /state at file:\S+ has no resources of stack 'dev', so nothing was destroyed/,
    );
    assert.match(err, /cluster 'dev', identity 0123456789ab: 1 objects/);
    assert.match(err, /Set PULUMI_BACKEND_URL .* orphans --identity 0123456789ab`/);
    assert.doesNotMatch(err, /--delete/);
    assert.deepEqual(deleted(), []);
    assert.equal(kubeconfig(), true);
  });

  it("deletes a leftover server with the cluster's identity, and no other server", async () => {
    const of = (id: string) => ({ "stackadm-cluster": "dev", "stackadm-identity": id });
    servers.push({ id: "alive", name: "dev-x", metadata: of("ba9876543210") });
    servers.push({ id: "late", name: "dev-x", metadata: of("0123456789ab") });
    cloud.on("DELETE /compute/servers/late", () => {
      servers.pop();
      return { status: 204 };
    });
    held("gone");
    const { code, out } = await operator.run("destroy", "--yes", "--json");
    assert.equal(code, 0);
    assert.deepEqual(deleted(), ["/compute/servers/late"]);
    const { type, ok, swept } = lastLine(out);
    assert.deepEqual({ type, ok, swept }, { type: "result", ok: true, swept: 1 });
  });

  describe("for a cluster whose API is unavailable", () => {
    const networkOf = (id: string) => ({
      urn: urnOf(networkType, "shared"),
      type: networkType,
      custom: true,
      id,
    });
    const service = {
      urn: urnOf("kubernetes:core/v1:Service", "dev-addons-samples-web-external"),
      type: "kubernetes:core/v1:Service",
      id: "stackadm-samples/web-external",
      provider: `${urnOf("stackadm:addons:Addons$pulumi:providers:kubernetes", "dev-addons-provider")}::p`,
    };
    let api: Server;
    beforeEach(async () => {
      api = createServer((_request, response) => response.writeHead(401).end("expired"));
      await new Promise<void>((done) => api.listen(0, "127.0.0.1", done));
    });
    afterEach(() => api.close());
    const provider = () => ({
      urn: urnOf("stackadm:addons:Addons$pulumi:providers:kubernetes", "dev-addons-provider"),
      type: "pulumi:providers:kubernetes",
      id: "p",
      inputs: {
        kubeconfig: stringify({
          "current-context": "c",
          clusters: [{ name: "c", cluster: { server: addressOf(api) } }],
          users: [{ name: "c", user: { token: "t" } }],
          contexts: [{ name: "c", context: { cluster: "c", user: "c" } }],
        }),
      },
    });

    it("changes nothing, and suggests no `--abandon`, because the API is not lost", async () => {
      held("s1", provider(), service);
      const { code, err } = await operator.run("destroy", "--yes");
      assert.equal(code, 1);
      assert.match(err, /API cannot be used.*it answers 401: expired.*Nothing was changed\./);
      assert.match(err, /fetches a new one from a control plane/);
      assert.doesNotMatch(err, /--abandon/);
      assert.deepEqual(operator.engine.operations(), []);
      assert.deepEqual(deleted(), []);
    });

    it("deletes load balancers first with `--abandon`, and keeps volumes and floating IPs of Services", async () => {
      let balancers = [
        { id: "lb", name: "kube_service_dev-0123456789ab_ns_web" },
        { id: "theirs", name: "kube_service_dev_ns_web", vip_network_id: "elsewhere" },
        // Load balancer of a cluster in another network: its mark decides, not its network.
        { id: "guest", name: "kube_service_b-ba9876543210_ns_web", vip_network_id: "n" },
      ];
      cloud.on("GET /load-balancer/lbaas/loadbalancers", () => ({
        body: { loadbalancers: balancers },
      }));
      cloud.on("DELETE /load-balancer/lbaas/loadbalancers/lb", () => {
        assert.deepEqual(operator.engine.operations(), ["hold"], "before the network goes");
        balancers = balancers.slice(1);
        return { status: 204 };
      });
      const metadata = { "cinder.csi.openstack.org/cluster": "dev-0123456789ab" };
      cloud.on("GET /volumev3/volumes/detail", {
        body: { volumes: [{ id: "v", name: "pvc-1", metadata }] },
      });
      const network = networkOf("n");
      const description =
        "Floating IP for Kubernetes external service ns/web from cluster dev-0123456789ab";
      cloud.on("GET /network/floatingips", {
        body: { floatingips: [{ id: "f", floating_ip_address: "203.0.113.9", description }] },
      });
      // A network that the program only reads does not prove ownership of its load balancers.
      const shared = { ...networkOf("elsewhere"), external: true };
      held("s1", network, provider(), service, shared);
      const { code, out, err } = await operator.run("destroy", "--yes", "--abandon");
      assert.equal(code, 0, err);
      assert.match(err, /1 resources that need the cluster's API were removed from the state/);
      assert.deepEqual(deleted(), ["/load-balancer/lbaas/loadbalancers/lb?cascade=true"]);
      assert.match(out, /^Nothing else of cluster 'dev' is left/m);
      const again = await operator.run("destroy", "--yes");
      assert.equal(again.code, 0, "only data and an address are left, which stay");
      assert.match(again.out, /^One volume is kept/m);
      assert.match(
        again.out,
        /^One floating IP of a Service is kept.*\n {2}203\.0\.113\.9 \(f\)$/m,
      );
      assert.match(out, /^One volume is kept, with its data.*\n {2}pvc-1 \(v\)$/m);
      assert.equal(operator.engine.stateNow(), undefined);
    });
  });

  it("fails while an object from the stack's state still exists in the cloud", async () => {
    held("s1");
    servers.push({ id: "s1", name: "dev-general-0" });
    const { code, out, err } = await operator.run("destroy", "--yes");
    assert.deepEqual([code, out], [1, ""]);
    assert.match(
      err,
      /error: These objects were not deleted: server 'dev-general-0'\.\n {2}Delete those without the cluster's identity by hand, by ID: s1\./,
    );
    assert.equal(kubeconfig(), true);
  });

  it("works with an invalid stack file", async () => {
    const settings = "config:\n  stackadm:cluster:\n    image: 7\n";
    writeFileSync(join(operator.package, "Pulumi.aged.yaml"), settings);
    const { code, out } = await operator.run("destroy", "--yes", "--stack", "aged");
    assert.equal(code, 0);
    assert.match(out, /^There is nothing to destroy: .* cluster 'aged'/);
  });

  it("keeps the stack and the kubeconfig if the engine fails", async () => {
    held("s1");
    operator.engine.runs({ destroy: { code: 255, stderr: "error: dial tcp: i/o timeout\n" } });
    const { code, err } = await operator.run("destroy", "--yes");
    assert.equal(code, 3);
    assert.match(err, /\nerror: [^\n]+\n {2}[^\n]+\n {2}CLOUD_UNREACHABLE: [^\n]+\n$/);
    assert.ok(operator.engine.stateNow());
    assert.equal(kubeconfig(), true);
  });

  it("stops cleanly on SIGTERM, and a second run completes the destroy", async () => {
    held("s1");
    const vm = { type: instanceType, name: "vm", op: "delete" };
    operator.engine.runs({
      destroy: { events: [stepEvent("resourcePreEvent", vm)], then: "wait" },
    });
    const running = operator.start(["destroy", "--yes"]);
    await running.says(/> Servers: removing/);
    running.child.kill("SIGTERM");
    assert.equal((await running.ended).code, 130);
    assert.ok(operator.engine.stateNow());
    operator.engine.runs({});
    assert.equal((await operator.run("destroy", "--yes")).code, 0);
    assert.equal(operator.engine.stateNow(), undefined);
  });
});
