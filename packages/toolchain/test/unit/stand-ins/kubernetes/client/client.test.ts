import { strict as assert } from "node:assert";
import { once } from "node:events";
import { connect, createServer, type AddressInfo } from "node:net";
import {
  ApiError,
  isAlreadyExists,
  isConflict,
  isForbidden,
  isNotFound,
  KubeClient,
  UnreachableError,
} from "../../../../../stand-ins/kubernetes/client/client.js";
import { ObjectClient } from "../../../../../stand-ins/kubernetes/client/object-client.js";
import {
  getCollectionPath,
  Discovery,
  NoMatchError,
} from "../../../../../stand-ins/kubernetes/client/discovery.js";
import {
  getApiServerConnection,
  loadKubeconfig,
} from "../../../../../stand-ins/kubernetes/client/kubeconfig.js";
import { getTextAt } from "../../../../../stand-ins/kubernetes/objects/json.js";
import { FakeApiServer } from "../support/fake-api-server.js";
import type { JsonObject } from "../../../../../stand-ins/plugin/values.js";

const configMap = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name, namespace: "default", ...more },
});

describe("kubernetes stand-in: client", () => {
  let api: FakeApiServer;
  let client: KubeClient;
  let discovery: Discovery;
  let cluster: ObjectClient;
  beforeEach(async () => {
    api = await FakeApiServer.start();
    client = new KubeClient(getApiServerConnection(loadKubeconfig(api.kubeconfig()), {}));
    discovery = new Discovery(client);
    cluster = new ObjectClient(client, discovery, new AbortController().signal);
  });
  afterEach(async () => {
    client.close();
    await api.stop();
  });

  it("creates, reads, applies, lists and deletes", async () => {
    const options = { fieldManager: "test" };
    await cluster.create(configMap("a", { labels: { app: "x" } }), options);
    await cluster.create(configMap("b"), options);
    const listed = await cluster.list(configMap(""), { app: "x" });
    assert.deepEqual(
      listed.map((object) => getTextAt(object, "kind")),
      ["ConfigMap"],
    );
    const applied = await cluster.applyObject({ ...configMap("a"), data: { k: "v" } }, options);
    assert.equal(getTextAt(applied, "data", "k"), "v");
    assert.equal(getTextAt(await cluster.get(configMap("a")), "data", "k"), "v");
    await cluster.delete(configMap("a"), "Foreground");
    await assert.rejects(cluster.get(configMap("a")), isNotFound);
  });

  it("sends the requests of server-side apply", async () => {
    await cluster.create(configMap("a"), { fieldManager: "m", dryRun: true });
    await cluster.create(configMap("a"), { fieldManager: "m" });
    await cluster.applyObject(configMap("a"), { fieldManager: "m", force: true });
    const [dry, wet, patch] = api.requests.filter((seen) => seen.method !== "GET");
    assert.ok(dry && wet && patch);
    assert.equal(dry.query.get("dryRun"), "All");
    assert.equal(wet.query.get("dryRun"), null);
    assert.equal(wet.query.get("fieldManager"), "m");
    assert.equal(patch.type, "application/apply-patch+yaml");
    assert.equal(patch.query.get("force"), "true");
  });

  it("distinguishes the server's errors", async () => {
    await cluster.create(configMap("a"), { fieldManager: "m" });
    const again = cluster.create(configMap("a"), { fieldManager: "m" });
    await assert.rejects(again, (error) => {
      assert.ok(error instanceof ApiError);
      assert.ok(isAlreadyExists(error));
      assert.equal(error.message, 'configmaps "a" already exists');
      assert.deepEqual(
        [isNotFound, isConflict, isForbidden].map((is) => is(error)),
        [false, false, false],
      );
      return true;
    });
    await assert.rejects(cluster.get(configMap("none")), { kind: "configmaps", code: 404 });
  });

  it("reports a refused connection in the usual words", async () => {
    const dead = new KubeClient(getApiServerConnection(loadKubeconfig(api.kubeconfig(1)), {}));
    await assert.rejects(dead.request({ path: "/version" }), (error) => {
      assert.ok(error instanceof UnreachableError);
      assert.equal(
        error.message,
        'Get "https://127.0.0.1:1/version": dial tcp 127.0.0.1:1: connect: connection refused',
      );
      return true;
    });
    dead.close();
  });

  /** Starts a proxy for the API server that closes the first connections without an answer. */
  const cutting = async (first: number) => {
    const { port } = new URL(client.connection.server);
    let count = 0;
    const door = createServer((socket) => {
      count += 1;
      if (count <= first) socket.destroy();
      else socket.pipe(connect(Number(port), "127.0.0.1")).pipe(socket);
    }).listen(0, "127.0.0.1");
    await once(door, "listening");
    const { port: open } = door.address() as AddressInfo;
    return {
      behind: new KubeClient(getApiServerConnection(loadKubeconfig(api.kubeconfig(open)), {}), 1),
      connections: () => count,
      close: () => door.close(),
    };
  };

  it("retries a read after a broken connection, as client-go does, but no write", async () => {
    const some = await cutting(2);
    await some.behind.request({ path: "/version" });
    assert.equal(some.connections(), 3);
    some.behind.close();
    some.close();
    const all = await cutting(Infinity);
    await assert.rejects(all.behind.request({ path: "/version" }), UnreachableError);
    assert.equal(all.connections(), 11);
    const write = all.behind.request({ method: "POST", path: "/api/v1/namespaces", body: {} });
    await assert.rejects(write, UnreachableError);
    assert.equal(all.connections(), 12);
    all.behind.close();
    all.close();
  });

  it("ends a request on cancel", async () => {
    const cancelling = new AbortController();
    cancelling.abort();
    await assert.rejects(client.request({ path: "/version", signal: cancelling.signal }), {
      name: "AbortError",
    });
  });

  it("requests a group's kinds once, and again for a missing kind", async () => {
    const widget = { group: "demo.example.org", version: "v1", kind: "Widget" };
    const asked = () => api.requests.filter((seen) => seen.path === "/apis/apps/v1").length;
    const deployment = { group: "apps", version: "v1", kind: "Deployment" };
    const found = await discovery.find(deployment);
    await discovery.find({ ...deployment, kind: "DaemonSet" });
    assert.equal(asked(), 1);
    assert.equal(getCollectionPath(found, "demo"), "/apis/apps/v1/namespaces/demo/deployments");
    await assert.rejects(discovery.find(widget), NoMatchError);
    assert.equal(await discovery.exists(widget), false);
    api.serve({
      prefix: "/apis/demo.example.org/v1",
      kind: "Widget",
      plural: "widgets",
      namespaced: false,
    });
    assert.equal(await discovery.exists(widget), true);
    assert.equal(await discovery.isNamespaced(widget), false);
    assert.equal(
      getCollectionPath(await discovery.find(widget), "x"),
      "/apis/demo.example.org/v1/widgets",
    );
  });

  it("assumes that unknown kinds have a namespace until the program defines them", async () => {
    const widget = { group: "demo.example.org", version: "v1", kind: "Widget" };
    assert.equal(await discovery.isNamespaced(widget), true);
    const names = { kind: "Widget" };
    discovery.plan({ spec: { group: "demo.example.org", scope: "Cluster", names } });
    assert.equal(await discovery.isNamespaced(widget), false);
    const core = (kind: string) => discovery.isNamespaced({ group: "", version: "v1", kind });
    assert.deepEqual([await core("Pod"), await core("Node")], [true, false]);
  });

  it("removes the namespace from cluster-scoped objects", async () => {
    const role = {
      apiVersion: "rbac.authorization.k8s.io/v1",
      kind: "ClusterRole",
      metadata: { name: "r", namespace: "default" },
    };
    await cluster.create(role, { fieldManager: "m" });
    assert.equal(getTextAt(api.find("ClusterRole", "r"), "metadata", "namespace"), "");
  });
});
