import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { DestroyPlan } from "../../../../automation/engine/operation-options.js";
import {
  claimed,
  content,
  identity,
  inventory,
  livingResources,
  marks,
  persistent,
  providerType,
  resource,
} from "../../../support/cloud/claimed-volumes.js";
import { Embedder } from "../../../support/engine/embedder.js";
import { commandType, type Engine } from "../../../support/engine/fake-engine.js";
import { fakeProject } from "../../../support/cloud/fake-openstack.js";
import { startFakeCluster } from "../../../support/cloud/ready-cluster.js";

describe("the plan of a destroy", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  let engine: Engine;
  let api: Server;
  let answer: { status: number; body: string };
  /** Further objects that the API serves. */
  let others: Record<string, readonly object[]>;
  beforeEach(async () => {
    embedder = await Embedder.start();
    ({ engine } = embedder);
    answer = { status: 200, body: JSON.stringify({ items: [] }) };
    others = { "/api/v1/services": [] };
    api = createServer(({ method, url = "" }, response) => {
      assert.equal(method, "GET");
      if (url === "/api/v1/persistentvolumes") response.writeHead(answer.status).end(answer.body);
      else if (others[url]) response.end(JSON.stringify({ items: others[url] }));
      else response.writeHead(404).end("404 page not found");
    });
    await new Promise<void>((done) => api.listen(0, "127.0.0.1", done));
  });
  afterEach(async () => {
    const changes = embedder.cloud.seen.filter(
      ({ method, path }) => method !== "GET" && !path.includes("tokens"),
    );
    assert.deepEqual([changes, engine.operations()], [[], []]);
    assert.ok(engine.calls().every((call) => call.startsWith("stack export")));
    api.close();
    await embedder.stop();
  });
  const plan = (options = {}): Promise<DestroyPlan> =>
    embedder.service().destroyPlan("dev", options);
  const fates = ({ volumes }: DestroyPlan): string[] =>
    volumes.map(({ id, claim, fate }) => `${id} ${claim} ${fate}`);

  /**
   * Sets up a running cluster: server and network in the state, a load balancer of its controllers,
   * volumes.
   */
  const live = async (): Promise<void> => {
    const cluster = await startFakeCluster();
    await cluster.close();
    const url = `http://127.0.0.1:${String((api.address() as AddressInfo).port)}`;
    const kubeconfig = cluster.kubeconfig.replace(/server: \S+/, `server: ${url}`);
    engine.state({ resources: livingResources(kubeconfig) });
    for (const [path, body] of Object.entries(inventory))
      embedder.cloud.on(`GET /${path}`, { body });
    const items = [
      ...[persistent("gone", "Delete"), persistent("kept", "Retain")],
      ...[persistent("brought", "Delete"), persistent("theirs", "Delete", "nfs.csi.k8s.io")],
    ];
    answer = { status: 200, body: JSON.stringify({ items }) };
  };

  it("lists the cluster's identity and its objects by state or identity, and no foreign objects", async () => {
    await live();
    const { cluster, identities, held, backend, goes, problem, protection } = await plan();
    assert.deepEqual([cluster, identities, held], ["old", [identity], true]);
    assert.equal(backend, embedder.backend);
    assert.deepEqual(
      goes.map(({ kind, id }) => `${kind} ${id}`),
      ["load balancer lb", "server s1", "network n1"],
    );
    assert.deepEqual([problem, protection], [undefined, undefined]);
  });

  it("lists the kinds that the cloud does not show", async () => {
    await live();
    embedder.cloud.on("GET /load-balancer/lbaas/loadbalancers", { status: 403, body: {} });
    const { goes, hidden } = await plan();
    assert.deepEqual([goes.map(({ id }) => id), hidden], [["s1", "n1"], ["load balancer"]]);
    engine.state({ resources: [] });
    assert.deepEqual((await plan()).hidden, hidden);
  });

  it("lists the objects that remain: retained resources, and a volume that only its mark assigns", async () => {
    await live();
    const { resources } = engine.stateNow()?.deployment as { resources: object[] };
    engine.state({ resources: resources.map((one) => ({ ...one, retainOnDelete: true })) });
    const body = { volumes: [{ id: "copy", name: "old-0-etcd", metadata: marks }] };
    embedder.cloud.on("GET /volumev3/volumes/detail", { body });
    const { goes, stays = [] } = await plan();
    const names = [goes, stays].map((list) => list.map(({ id }) => id).join());
    assert.deepEqual(names, ["lb", "s1,copy,n1"]);
  });

  it("reads from the cluster which volumes are deleted, by reclaim policy, with their claims", async () => {
    await live();
    assert.deepEqual(fates(await plan()), [
      ...["gone shop/gone goes", "kept shop/kept stays", "left  stays"],
      "brought shop/brought goes",
    ]);
  });

  it("marks volumes as unknown if the cluster's API fails, and reports why", async () => {
    await live();
    for (const [status, body, why] of [
      [401, "expired", /answered 401 .*: expired/],
      [200, "<html>", /is not valid JSON/],
    ] as const) {
      answer = { status, body };
      const unsure = await plan();
      assert.deepEqual(
        fates(unsure),
        ["gone", "kept", "left"].map((id) => `${id}  unknown`),
      );
      assert.match(unsure.problem ?? "", why);
      assert.equal(unsure.goes.length, 3);
    }
  });

  describe("with floating IPs of Services", () => {
    const keep = { "loadbalancer.openstack.org/keep-floatingip": "true" };
    const floating = (id: string, service: string): object => ({
      id,
      floating_ip_address: `203.0.113.${id}`,
      description: `Floating IP for Kubernetes external service ${service} from cluster old-${identity}`,
    });
    const service = (name: string, more: { annotations?: object; ip?: string }): object => ({
      metadata: { namespace: "shop", name, annotations: more.annotations },
      spec: { type: "LoadBalancer" },
      status: { loadBalancer: more.ip === undefined ? {} : { ingress: [{ ip: more.ip }] } },
    });
    const floatingFates = ({ floatingIps }: DestroyPlan): string[] =>
      floatingIps.map(({ address, service: of, fate }) => `${address} ${of || "-"} ${fate}`);
    beforeEach(async () => {
      await live();
      const names = ["web", "kept", "former", "proxied"];
      const floatingips = names.map((name, index) => floating(String(index), `shop/${name}`));
      embedder.cloud.on("GET /network/floatingips", { body: { floatingips } });
      others["/api/v1/services"] = [
        service("web", { ip: "203.0.113.0" }),
        service("kept", { ip: "203.0.113.1", annotations: keep }),
        service("proxied", {}),
        { metadata: { namespace: "shop", name: "former" }, spec: { type: "ClusterIP" } },
      ];
    });

    it("marks floating IPs of Services as deleted, except annotated ones and leftovers", async () => {
      const found = await plan();
      assert.deepEqual(floatingFates(found), [
        ...["203.0.113.0 shop/web goes", "203.0.113.1 shop/kept stays"],
        ...["203.0.113.2 - stays", "203.0.113.3 shop/proxied goes"],
      ]);
      assert.ok(found.goes.every(({ kind }) => kind !== "floating IP"));
    });

    it("marks an annotated floating IP as deleted if another Service uses the address now", async () => {
      others["/api/v1/services"] = [
        service("kept", { ip: "203.0.113.9", annotations: keep }),
        service("other", { ip: "203.0.113.1" }),
      ];
      assert.equal(floatingFates(await plan())[1], "203.0.113.1 shop/other goes");
    });

    it("keeps all floating IPs of an abandoned cluster, and marks floating IPs as unknown if the API fails", async () => {
      const abandoned = floatingFates(await plan({ abandon: true }));
      assert.ok(abandoned.length === 4 && abandoned.every((one) => one.endsWith(" - stays")));
      answer = { status: 500, body: "" };
      assert.ok(floatingFates(await plan()).every((one) => one.endsWith(" - unknown")));
    });
  });

  it("reads from the cluster which snapshots are deleted, by deletion policy", async () => {
    await live();
    assert.deepEqual((await plan()).snapshots, [], "a cluster without snapshots serves none");
    others["/apis/snapshot.storage.k8s.io/v1/volumesnapshotcontents"] = [
      ...[content("nightly", "Delete"), content("weekly", "Retain")],
      content("theirs", "Delete", "nfs.csi.k8s.io"),
    ];
    const inCinder = ["snap-nightly", "snap-lost"].map((id) => claimed(id));
    embedder.cloud.on("GET /volumev3/snapshots/detail", {
      body: { snapshots: [...inCinder, { id: "by hand" }] },
    });
    const fateNow = async () => (await plan()).snapshots[0]?.fate;
    assert.equal(await fateNow(), "stays", "nothing of ours has it deleted");
    const script = resource(commandType, "dev-control-plane-snapshots-teardown", { id: "t" });
    const resources = engine.stateNow()?.deployment["resources"] as object[];
    engine.state({ resources: [...resources, script] });
    const { snapshots, goes } = await plan();
    const unknown = { snapshot: "", volume: "", fate: "stays" };
    assert.deepEqual(snapshots, [
      { id: "snap-nightly", snapshot: "shop/nightly", volume: "kept", fate: "goes" },
      { id: "snap-weekly", snapshot: "shop/weekly", volume: "kept", fate: "stays" },
      { id: "snap-lost", ...unknown },
    ]);
    assert.ok(goes.every(({ kind }) => kind !== "volume snapshot"));
    assert.equal((await plan({ abandon: true })).snapshots.length, 2);
  });

  describe("for several clusters", () => {
    const another = "ba9876543210";
    /**
     * Adds a provider of the user's program in first place, and a second cluster with its API at
     * this port.
     */
    const more = async (port: number): Promise<void> => {
      await live();
      const [mark, provider, ...rest] = engine.stateNow()?.deployment["resources"] as {
        inputs: { kubeconfig: string };
      }[];
      assert.ok(mark && provider);
      const { kubeconfig } = provider.inputs;
      const at = (to: number) => ({
        inputs: { kubeconfig: kubeconfig.replace(/(server: \S+:)\d+/, `$1${String(to)}`) },
      });
      const identityOf = { id: "j", outputs: { stdout: another } };
      const resources = [
        resource("my:index:Fleet$pulumi:providers:kubernetes", "fleet", { id: "f", ...at(1) }),
        ...[mark, provider],
        resource("command:local:Command", "test-identity", identityOf),
        resource(providerType, "test-addons-provider", { id: "q", ...at(port) }),
        ...rest,
      ];
      engine.state({ resources });
    };

    it("queries the API of each cluster, and of no other Kubernetes provider", async () => {
      const seen: string[] = [];
      const second = createServer(({ url = "" }, response) => {
        seen.push(url);
        const items = url.endsWith("/persistentvolumes") ? [persistent("theirs", "Delete")] : [];
        response.end(JSON.stringify({ items }));
      });
      await new Promise<void>((done) => second.listen(0, "127.0.0.1", done));
      try {
        await more((second.address() as AddressInfo).port);
        const found = await plan();
        assert.deepEqual(found.clusters, ["old"], "both have the same name in the cloud");
        assert.deepEqual([found.identities, found.problem], [[identity, another], undefined]);
        assert.deepEqual(fates(found), [
          ...["gone shop/gone goes", "kept shop/kept stays", "left  stays"],
          ...["theirs shop/theirs goes", "brought shop/brought goes"],
        ]);
        assert.ok(seen.includes("/api/v1/persistentvolumes"));
      } finally {
        second.close();
      }
    });

    it("marks volumes without a known cluster as unknown if one cluster's API is unreachable", async () => {
      await more(1);
      const found = await plan();
      assert.match(found.problem ?? "", /^test: The Kubernetes API at 127\.0\.0\.1:1 cannot be/);
      assert.deepEqual(fates(found), [
        ...["gone shop/gone goes", "kept shop/kept stays", "left  unknown"],
        ...["theirs  unknown", "brought shop/brought goes"],
      ]);
    });
  });

  it("queries no API of an abandoned cluster, and keeps its volumes", async () => {
    await live();
    answer = { status: 500, body: "" };
    const { problem, ...rest } = await plan({ abandon: true });
    assert.deepEqual(
      fates({ ...rest }),
      ["gone", "kept", "left"].map((id) => `${id}  stays`),
    );
    assert.equal(problem, undefined);
  });

  it("is empty if the state is empty, even if objects carry the cluster's name", async () => {
    await live();
    engine.state({ resources: [] });
    const { backend, cloud } = embedder;
    const project = { id: fakeProject, name: "demo" };
    const where = { backend, place: { cloud: cloud.authUrl, region: "one", project } };
    const noIdentity = { cluster: "dev", clusters: ["dev"], identities: [] };
    const nothing = { goes: [], volumes: [], floatingIps: [], snapshots: [] };
    assert.deepEqual(await plan(), { ...noIdentity, ...where, held: false, ...nothing });
  });
});
