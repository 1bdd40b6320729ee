import assert from "node:assert/strict";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import type { DestroyPlan } from "../../../automation/cluster/options.js";
import { Embedder } from "../../support/embedder.js";
import { instanceType, networkType, urnOf, type Engine } from "../../support/engine.js";
import { startFakeCluster } from "../../support/ready-cluster.js";

const identity = "0123456789ab";
const marks = { "stackadm-cluster": "old", "stackadm-identity": identity };
const resource = (type: string, name: string, more: object): object => ({
  ...{ urn: urnOf(type, name), type },
  ...more,
});
const claimed = (id: string, of = `old-${identity}`): object => ({
  ...{ id, name: `pvc-${id}`, size: 2 },
  metadata: { "cinder.csi.openstack.org/cluster": of },
});
const persistent = (id: string, policy: string, driver = "cinder.csi.openstack.org"): object => ({
  spec: {
    csi: { driver, volumeHandle: id },
    claimRef: { namespace: "shop", name: id },
    persistentVolumeReclaimPolicy: policy,
  },
});

describe("the plan of a destroy", function () {
  this.timeout(60_000);
  let embedder: Embedder;
  let engine: Engine;
  let api: Server;
  let answer: { status: number; body: string };
  beforeEach(async () => {
    embedder = await Embedder.start();
    ({ engine } = embedder);
    answer = { status: 200, body: JSON.stringify({ items: [] }) };
    api = createServer((request, response) => {
      assert.deepEqual([request.method, request.url], ["GET", "/api/v1/persistentvolumes"]);
      response.writeHead(answer.status).end(answer.body);
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

  /** A cluster that lives: a server and a network of its state, a load balancer of its controllers, volumes. */
  const live = async (): Promise<void> => {
    const cluster = await startFakeCluster();
    await cluster.close();
    const url = `http://127.0.0.1:${String((api.address() as AddressInfo).port)}`;
    const kubeconfig = cluster.kubeconfig.replace(/server: \S+/, `server: ${url}`);
    const service = "kubernetes:core/v1:Service";
    engine.state({
      resources: [
        resource("command:local:Command", "dev-identity", {
          id: "i",
          outputs: { stdout: identity },
        }),
        resource("pulumi:providers:kubernetes", "dev-provider", {
          id: "p",
          inputs: { kubeconfig },
        }),
        resource(service, "web", { id: "shop/web" }),
        resource(instanceType, "vm", { id: "s1" }),
        resource(networkType, "net", { id: "n1" }),
      ],
    });
    const found: Record<string, object> = {
      "compute/servers/detail": {
        servers: [
          { id: "s1", name: "old-general-0", metadata: marks },
          {
            id: "s2",
            name: "old-general-0",
            metadata: { ...marks, "stackadm-identity": "ba9876543210" },
          },
        ],
      },
      "network/networks": {
        networks: [
          { id: "n1", name: "old" },
          { id: "n2", name: "old" },
        ],
      },
      "load-balancer/lbaas/loadbalancers": {
        loadbalancers: [{ id: "lb", name: `kube_service_old-${identity}_shop_web` }],
      },
      "volumev3/volumes/detail": {
        volumes: [
          ...["gone", "kept", "left"].map((id) => claimed(id)),
          claimed("theirs", "old-ba9876543210"),
          { id: "brought", name: "by hand", size: 7 },
        ],
      },
    };
    for (const [path, body] of Object.entries(found)) embedder.cloud.on(`GET /${path}`, { body });
    const items = [
      ...[persistent("gone", "Delete"), persistent("kept", "Retain")],
      ...[persistent("brought", "Delete"), persistent("theirs", "Delete", "nfs.csi.k8s.io")],
    ];
    answer = { status: 200, body: JSON.stringify({ items }) };
  };

  it("says whose cluster it is, what goes by state or identity, and nothing of anybody else", async () => {
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

  it("knows of the cluster which volumes go, by their reclaim policy, with their claims", async () => {
    await live();
    assert.deepEqual(fates(await plan()), [
      ...["gone shop/gone goes", "kept shop/kept stays", "left  stays"],
      "brought shop/brought goes",
    ]);
  });

  it("does not know it when the cluster does not say, and says why", async () => {
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

  it("asks no cluster that is to be abandoned: its volumes stay", async () => {
    await live();
    answer = { status: 500, body: "" };
    const { problem, ...rest } = await plan({ abandon: true });
    assert.deepEqual(
      fates({ ...rest }),
      ["gone", "kept", "left"].map((id) => `${id}  stays`),
    );
    assert.equal(problem, undefined);
  });

  it("is empty when the state holds nothing, whatever carries the name", async () => {
    await live();
    engine.state({ resources: [] });
    const { backend } = embedder;
    const nothing = { cluster: "dev", identities: [], backend, held: false, goes: [], volumes: [] };
    assert.deepEqual(await plan(), nothing);
  });
});
