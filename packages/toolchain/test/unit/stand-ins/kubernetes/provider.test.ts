import { strict as assert } from "node:assert";
import { setAt, getTextAt } from "../../../../stand-ins/kubernetes/objects/json.js";
import { FakeApiServer } from "./support/fake-api-server.js";
import { Harness, initFailureOf } from "./support/harness.js";
import type { JsonObject } from "../../../../stand-ins/plugin/values.js";

const urnOf = (type: string, name = "x"): string =>
  `urn:pulumi:dev::test::kubernetes:${type}::${name}`;
const configMap = (data: JsonObject, more: JsonObject = {}): JsonObject => ({
  apiVersion: "v1",
  kind: "ConfigMap",
  metadata: { name: "x", namespace: "default", ...more },
  data,
});
const urn = urnOf("core/v1:ConfigMap");

describe("kubernetes stand-in: life of an object", () => {
  let api: FakeApiServer;
  let provider: Harness;
  beforeEach(async () => {
    api = await FakeApiServer.start();
    provider = await Harness.start();
    await provider.configure({ kubeconfig: api.kubeconfig() });
  });
  afterEach(async () => {
    await provider.stop();
    await api.stop();
  });

  const create = (properties: JsonObject, more: JsonObject = {}) =>
    provider.create({ urn, properties, ...more });

  it("logs once that it is a stand-in", () => {
    assert.deepEqual(provider.messages, [
      "debug: kubernetes: this is stackadm's stand-in, not the official provider",
    ]);
  });

  it("removes fields on update that the inputs no longer contain, but none of other managers", async () => {
    const { properties } = await create(configMap({ a: "1", b: "1" }, { labels: { mine: "yes" } }));
    api.change(api.find("ConfigMap", "x", "default") ?? {}, { data: { other: "kept" } });
    const state = await provider.update({
      id: "default/x",
      urn,
      olds: properties,
      news: configMap({ a: "2" }),
    });
    const live = api.find("ConfigMap", "x", "default");
    assert.deepEqual(live?.["data"], { a: "2", other: "kept" });
    assert.equal(getTextAt(live, "metadata", "labels", "mine"), "");
    assert.equal(state["__fieldManager"], properties["__fieldManager"]);
  });

  it("takes no field from another manager without force", async () => {
    const { properties } = await create(configMap({ a: "1" }));
    const taken = structuredClone(api.find("ConfigMap", "x", "default") ?? {});
    setAt(
      taken,
      ["metadata", "managedFields"],
      [{ manager: "other", operation: "Apply", fieldsV1: { "f:data": { "f:a": {} } } }],
    );
    api.load(taken);
    const request = { id: "default/x", urn, olds: properties };
    await assert.rejects(
      provider.update({ ...request, news: configMap({ a: "2" }) }),
      (error: Error) => {
        assert.match(error.message, /field conflict detected.*conflict with "other": \.data\.a/s);
        assert.equal(initFailureOf(error)?.id, "default/x");
        return true;
      },
    );
    const annotations = { "pulumi.com/patchForce": "true" };
    await provider.update({ ...request, news: configMap({ a: "2" }, { annotations }) });
    assert.deepEqual(api.find("ConfigMap", "x", "default")?.["data"], { a: "2" });
  });

  it("keeps ignored fields", async () => {
    const { properties } = await create(configMap({ a: "1", b: "1" }));
    api.change(api.find("ConfigMap", "x", "default") ?? {}, { data: { a: "by hand" } });
    const news = configMap({ a: "1", b: "2" });
    await provider.update({
      id: "default/x",
      urn,
      olds: properties,
      news,
      ignoreChanges: ["data.a"],
    });
    assert.deepEqual(api.find("ConfigMap", "x", "default")?.["data"], { a: "by hand", b: "2" });
  });

  it("previews an update on the server without changes", async () => {
    const { properties } = await create(configMap({ a: "1" }));
    const before = api.writes();
    const request = {
      id: "default/x",
      urn,
      olds: properties,
      news: configMap({ a: "2" }),
      preview: true,
    };
    assert.deepEqual((await provider.update(request))["data"], { a: "2" });
    assert.deepEqual(api.writes(), before);
    const later = configMap({ a: "04da6b54-80e4-46f7-96ec-b56ff0331ba9" });
    assert.deepEqual(await provider.update({ ...request, news: later }), later);
  });

  it("creates over an existing object only with upsert", async () => {
    await create(configMap({ a: "1" }));
    await assert.rejects(create(configMap({ a: "2" })), /already exists/);
    await provider.configure({ kubeconfig: api.kubeconfig(), upsertExistingObjects: "true" });
    await create(configMap({ b: "2" }, { annotations: { "pulumi.com/patchForce": "true" } }));
    assert.deepEqual(api.find("ConfigMap", "x", "default")?.["data"], { a: "1", b: "2" });
  });

  it("waits for finalizers, and reports the remaining ones at the time limit", async () => {
    const { properties } = await create(configMap({}, { finalizers: ["demo.example.org/hold"] }));
    const request = { id: "default/x", urn, properties };
    await assert.rejects(provider.delete({ ...request, timeout: 1 }), /timed out waiting/);
    assert.ok(
      provider.messages.includes(
        "warning: finalizers might be preventing deletion (demo.example.org/hold)",
      ),
    );
    assert.ok(provider.messages.includes("info: Resource scheduled for deletion"));
    const gone = provider.delete(request);
    const held = structuredClone(api.find("ConfigMap", "x", "default") ?? {});
    api.change(held, { metadata: { finalizers: [] } });
    await gone;
    assert.equal(api.find("ConfigMap", "x", "default"), undefined);
    await provider.delete(request);
  });

  it("ends a wait at once on the engine's cancel, and keeps the object", async () => {
    api.idle.add("Pod");
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "p", namespace: "default" } };
    const created = provider.create({ urn: urnOf("core/v1:Pod"), properties: pod });
    const seen = assert.rejects(created, (error: Error) => {
      assert.match(error.message, /Resource operation was cancelled for 'p'/);
      assert.equal(initFailureOf(error)?.id, "default/p");
      return true;
    });
    while (!api.find("Pod", "p", "default")) await new Promise((next) => setImmediate(next));
    const start = Date.now();
    await provider.cancel();
    await seen;
    assert.ok(Date.now() - start < 5000);
  });

  it("does not wait with pulumi.com/skipAwait", async () => {
    api.idle.add("Pod");
    const annotations = { "pulumi.com/skipAwait": "true" };
    const metadata = { name: "p", namespace: "default", annotations };
    const pod = { apiVersion: "v1", kind: "Pod", metadata };
    const { id } = await provider.create({ urn: urnOf("core/v1:Pod"), properties: pod });
    assert.equal(id, "default/p");
    assert.ok(provider.messages.includes("info: Skipping await logic"));
  });

  it("creates a custom resource as soon as its definition exists", async () => {
    const crd: JsonObject = {
      apiVersion: "apiextensions.k8s.io/v1",
      kind: "CustomResourceDefinition",
      metadata: { name: "widgets.demo.example.org" },
      spec: {
        group: "demo.example.org",
        scope: "Cluster",
        names: { kind: "Widget", plural: "widgets" },
        versions: [{ name: "v1", served: true }],
      },
    };
    const widgetUrn = urnOf("demo.example.org/v1:Widget");
    const widget = { apiVersion: "demo.example.org/v1", kind: "Widget", metadata: { name: "w" } };
    const early = await provider.check({ urn: widgetUrn, news: widget });
    assert.equal(getTextAt(early, "inputs", "metadata", "namespace"), "default");
    const crdUrn = urnOf("apiextensions.k8s.io/v1:CustomResourceDefinition");
    await provider.check({ urn: crdUrn, news: crd });
    const planned = await provider.check({ urn: widgetUrn, news: widget });
    assert.equal(getTextAt(planned, "inputs", "metadata", "namespace"), "", "it has no namespace");
    await provider.create({ urn: crdUrn, properties: crd });
    // The gRPC method Check added a namespace, because it did not know the kind's scope. The kind
    // is cluster-scoped, so the creation must remove the namespace.
    const made = await provider.create({
      urn: widgetUrn,
      properties: early["inputs"] as JsonObject,
    });
    assert.equal(made.id, "w");
  });

  it("imports an object with all fields that a program can write", async () => {
    api.put(configMap({ a: "1" }, { labels: { l: "1" } }));
    const found = await provider.read({ id: "default/x", urn });
    assert.deepEqual(found.inputs, configMap({ a: "1" }, { labels: { l: "1" } }));
    assert.equal((await provider.read({ id: "default/none", urn })).id, "");
  });

  it("reports on refresh an object that is no longer ready", async () => {
    const pod = { apiVersion: "v1", kind: "Pod", metadata: { name: "p", namespace: "default" } };
    const podUrn = urnOf("core/v1:Pod");
    const { properties } = await provider.create({ urn: podUrn, properties: pod });
    api.change(pod, { status: { phase: "Running", conditions: [] } });
    await assert.rejects(
      provider.read({ id: "default/p", urn: podUrn, properties, inputs: pod }),
      (error: Error) => {
        assert.match(error.message, /Resource 'p' was created but failed to initialize/);
        assert.ok(initFailureOf(error)?.properties["__inputs"]);
        return true;
      },
    );
  });

  it("refuses unsupported input in one sentence", async () => {
    await assert.rejects(
      provider.invoke("kubernetes:helm:template", {}),
      /does not know the function/,
    );
  });

  it("decodes YAML with several documents and sets namespaces of namespaced kinds", async () => {
    const text = [
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata: {on: 'yes', n: '1'}",
      "# nothing",
      "apiVersion: v1\nkind: Namespace\nmetadata: {name: b}",
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: c, namespace: own}",
    ].join("\n---\n");
    const { result } = await provider.invoke("kubernetes:yaml:decode", {
      text,
      defaultNamespace: "d",
    });
    const namespaces = (result as JsonObject[]).map((object) =>
      getTextAt(object, "metadata", "namespace"),
    );
    assert.deepEqual(namespaces, ["d", "", "own"]);
    await assert.rejects(
      provider.invoke("kubernetes:yaml:decode", { text: "a: [" }),
      /invalid YAML/,
    );
  });
});

describe("kubernetes stand-in: unreachable cluster", () => {
  let api: FakeApiServer;
  let provider: Harness;
  beforeEach(async () => {
    api = await FakeApiServer.start();
    provider = await Harness.start();
  });
  afterEach(async () => {
    await provider.stop();
    await api.stop();
  });
  const request = { urn, id: "default/x", properties: configMap({}), inputs: configMap({}) };

  it("fails only if a request is needed", async () => {
    await provider.configure({ kubeconfig: api.kubeconfig(1) });
    assert.deepEqual(
      (await provider.create({ ...request, preview: true })).properties,
      configMap({}),
    );
    await assert.rejects(
      provider.create(request),
      /is unreachable: unable to load schema information/,
    );
    await assert.rejects(provider.read(request), /PULUMI_K8S_DELETE_UNREACHABLE/);
    await assert.rejects(provider.delete(request), /PULUMI_K8S_DELETE_UNREACHABLE/);
    const olds = { ...configMap({}), __inputs: configMap({}) };
    await assert.rejects(
      provider.update({ ...request, olds, news: configMap({ a: "1" }) }),
      /configured Kubernetes cluster is unreachable/,
    );
  });

  it("loses resources from the state only with deleteUnreachable", async () => {
    await provider.configure({ kubeconfig: api.kubeconfig(1), deleteUnreachable: "true" });
    assert.equal((await provider.read(request)).id, "");
    await provider.delete(request);
  });

  it("includes an invalid kubeconfig and refused credentials", async () => {
    await provider.configure({ kubeconfig: "nonsense" });
    await assert.rejects(provider.create(request), /failed to parse kubeconfig data/);
    await provider.configure({ kubeconfig: api.kubeconfig().replace(api.token, "wrong") });
    await assert.rejects(provider.create(request), /Unauthorized/);
  });

  it("includes a server with another certificate", async () => {
    const text = api.kubeconfig();
    const other = text.replace(
      /"certificate-authority-data":"[^"]*"/,
      '"tls-server-name":"127.0.0.1"',
    );
    await provider.configure({ kubeconfig: other });
    await assert.rejects(provider.create(request), /self-signed certificate/);
  });
});
