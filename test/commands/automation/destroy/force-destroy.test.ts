import assert from "node:assert/strict";
import { providerType } from "../../../support/cloud/claimed-volumes.js";
import { Embedder, fails } from "../../../support/engine/embedder.js";
import { networkType, urnOf } from "../../../support/engine/fake-engine.js";
import { startFakeCluster } from "../../../support/cloud/ready-cluster.js";

describe("abandoning a cluster", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  beforeEach(async () => {
    embedder = await Embedder.start();
  });
  afterEach(() => embedder.stop());

  it("removes the cluster's objects from the state for all its providers, and keeps all other objects", async () => {
    const cluster = await startFakeCluster();
    await cluster.close();
    const ofAuthority = (data: string): string =>
      cluster.kubeconfig.replace(/( +)server: .*/, `$&\n$1certificate-authority-data: ${data}`);
    const [kubeconfig, elsewhere] = [ofAuthority("YQ=="), ofAuthority("Yg==")];
    const type = "pulumi:providers:kubernetes";
    const provider = (urn: string, inputs: object) => ({ urn, type, id: "p", inputs });
    const own = (name: string): string => `urn:pulumi:dev::it::${type}::${name}`;
    const providers = [
      provider(urnOf(providerType, "dev-addons-provider"), { kubeconfig }),
      provider(own("same"), { kubeconfig: { plaintext: JSON.stringify(kubeconfig) } }),
      provider(own("another"), { kubeconfig: elsewhere }),
      provider(own("ambient"), {}),
    ];
    const object = "kubernetes:core/v1:ConfigMap";
    const objects = providers.map(({ urn }, index) => ({
      urn: urnOf(object, String(index)),
      type: object,
      id: `ns/${String(index)}`,
      provider: `${urn}::p`,
    }));
    embedder.engine.state({ resources: [...providers, ...objects] });
    // The engine fails, so that the test sees the state before the engine deletes it.
    embedder.engine.runs({ destroy: { code: 255, stderr: "error: no\n" } });
    const notes: string[] = [];
    const onNote = (text: string): void => void notes.push(text);
    await assert.rejects(embedder.service().destroy("dev", { abandon: true, onNote }));
    assert.match(
      notes.join("\n"),
      /^2 resources that need the cluster's API were removed from the state/m,
    );
    const rest = embedder.engine.stateNow()?.deployment["resources"] as { readonly id: string }[];
    assert.deepEqual(
      rest.map(({ id }) => id).filter((id) => id.startsWith("ns/")),
      ["ns/2", "ns/3"],
    );
  });

  it("deletes no load balancer without its identity, and reports those in its network", async () => {
    const cluster = await startFakeCluster();
    await cluster.close();
    const { kubeconfig } = cluster;
    const elsewhere = kubeconfig.replace(/server: \S+/, "server: https://192.0.2.1:6443");
    const type = "pulumi:providers:kubernetes";
    const [ours, theirs] = [urnOf(providerType, "dev-addons-provider"), urnOf(type, "theirs")];
    const resources = [
      { urn: ours, type, id: "p", inputs: { kubeconfig } },
      { urn: theirs, type, id: "q", inputs: { kubeconfig: elsewhere } },
      { urn: urnOf(networkType, "net"), type: networkType, id: "ours" },
    ];
    embedder.engine.state({ resources });
    const balancer = (id: string, name: string, network = "ours") => ({
      id,
      name: `kube_service_${name}_shop_web`,
      vip_network_id: network,
    });
    let balancers = [
      ...[balancer("f", "old"), balancer("outside", "old", "elsewhere")],
      ...[balancer("a", "guest"), balancer("b", "older"), balancer("c", "old_er")],
      balancer("d", "old-ba9876543210"),
      { id: "e", name: "by hand", vip_network_id: "ours" },
    ];
    const { cloud, engine } = embedder;
    const deleted: string[] = [];
    cloud.on("GET /load-balancer/lbaas/loadbalancers", () => ({
      body: { loadbalancers: balancers },
    }));
    for (const { id } of balancers)
      cloud.on(`DELETE /load-balancer/lbaas/loadbalancers/${id}`, () => {
        deleted.push(id);
        balancers = balancers.filter((one) => one.id !== id);
        return { status: 204 };
      });
    engine.runs({ destroy: { code: 255, stderr: "error: no\n" } });
    const notes: string[] = [];
    const onNote = (text: string): void => void notes.push(text);
    await assert.rejects(embedder.service().destroy("dev", { abandon: true, onNote }));
    const named = notes.flatMap(
      (text) => /^! The load balancer '.*' \((.)\)/.exec(text)?.[1] ?? [],
    );
    assert.deepEqual([deleted, named], [[], ["f", "a", "b", "c", "d", "e"]]);
  });

  describe("while another engine may change the stack", () => {
    const identity = (stdout: string) => ({
      urn: urnOf("command:local:Command", "dev-identity"),
      type: "command:local:Command",
      id: "i",
      outputs: { stdout },
    });
    const ours = { resources: [identity("0123456789ab")] };
    let balancers: { id: string; name: string }[];
    /** Whether the stack was locked when the load balancer was deleted. */
    let held: boolean[];
    let meanwhile: () => void;
    beforeEach(() => {
      // Backend in which only the engine sees locks.
      embedder.backend = "s3://bucket";
      balancers = [{ id: "lb", name: "kube_service_dev-0123456789ab_ns_web" }];
      held = [];
      meanwhile = () => undefined;
      const { cloud, engine } = embedder;
      cloud.on("GET /load-balancer/lbaas/loadbalancers", () => ({
        body: { loadbalancers: balancers },
      }));
      cloud.on("DELETE /load-balancer/lbaas/loadbalancers/lb", () => {
        held.push(engine.heldBy() !== undefined);
        meanwhile();
        balancers = [];
        return { status: 204 };
      });
      engine.state(ours);
    });
    const abandon = () => embedder.service().destroy("dev", { abandon: true });
    const imports = (): number =>
      embedder.engine.calls().filter((call) => call.startsWith("stack import")).length;

    it("deletes the load balancers only while it holds the stack's lock", async () => {
      await abandon();
      assert.deepEqual(held, [true]);
      assert.deepEqual(embedder.engine.operations(), ["hold", "destroy", "destroy"]);
    });

    it("changes nothing while another user holds the lock", async () => {
      const lock = "created by ann@elsewhere (pid 1) at 2026-01-02T03:04:05Z";
      const stderr = `error: the stack is currently locked by 1 lock(s)\n  s3://bucket/1.json: ${lock}\n`;
      embedder.engine.runs({ hold: { stderr, code: 255 } });
      const { message } = await fails(abandon(), "STACK_LOCKED");
      assert.match(message, /process 1 of ann on elsewhere/);
      assert.deepEqual([held, imports()], [[], 0]);
      assert.deepEqual(embedder.engine.stateNow()?.deployment, ours);
    });

    it("uses the state after locking, and fails if it has another identity or protection", async () => {
      const another = { resources: [identity("ba9876543210")] };
      embedder.engine.runs({ hold: { state: another } });
      await fails(abandon(), "FAILED");
      const safe = { resources: [{ ...identity("0123456789ab"), protect: true }] };
      embedder.engine.state(ours);
      embedder.engine.runs({ hold: { state: safe } });
      await fails(abandon(), "PROTECTED");
      assert.deepEqual([held, imports()], [[], 0]);
      assert.deepEqual(embedder.engine.stateNow()?.deployment, safe);
    });

    it("keeps a state that another operation changed in the meantime", async () => {
      const grown = { resources: [...ours.resources, identity("ba9876543210")] };
      meanwhile = () => {
        embedder.engine.state(grown);
      };
      const { message } = await fails(abandon(), "STACK_LOCKED");
      assert.match(message, /^Another operation changed this stack meanwhile/);
      assert.deepEqual(embedder.engine.stateNow()?.deployment, grown);
      assert.deepEqual(embedder.engine.operations(), ["hold"]);
    });

    it("deletes objects of an interrupted run before an import removes their record", async () => {
      const resource = { urn: urnOf(networkType, "net"), type: networkType, custom: true };
      const creating = { type: "creating", resource: { ...resource, inputs: { name: "dev" } } };
      embedder.engine.state({ ...ours, pending_operations: [creating] });
      const tags = ["stackadm-cluster=dev", "stackadm-identity=0123456789ab"];
      let networks = [{ id: "half-made", name: "dev", tags }];
      embedder.cloud.on("GET /network/networks", () => ({ body: { networks } }));
      embedder.cloud.on("DELETE /network/networks/half-made", () => {
        held.push(embedder.engine.heldBy() !== undefined && imports() === 0);
        networks = [];
        return { status: 204 };
      });
      await abandon();
      assert.deepEqual(held, [true, true], "before its record goes");
    });
  });
});
