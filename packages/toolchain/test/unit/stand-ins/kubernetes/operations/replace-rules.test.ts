import { strict as assert } from "node:assert";
import {
  listReplacingFields,
  isFieldAffected,
} from "../../../../../stand-ins/kubernetes/operations/replace-rules.js";
import { diffOf, immutable, kindsOf } from "../support/diff-case.js";
import type { JsonObject } from "../../../../../stand-ins/plugin/values.js";

describe("kubernetes stand-in: replacement", () => {
  const cases: [string, string, JsonObject, JsonObject, Record<string, string>][] = [
    ["v1", "ConfigMap", { data: { a: "1" } }, { data: { a: "2" } }, { "data.a": "UPDATE!" }],
    ["v1", "Secret", { data: { a: "MQ==" } }, { data: { a: "Mg==" } }, { "data.a": "UPDATE!" }],
    ["v1", "Secret", { type: "a" }, { type: "b" }, { type: "UPDATE!" }],
    [
      "apps/v1",
      "Deployment",
      { spec: { selector: { matchLabels: { a: "1" } } } },
      { spec: { selector: { matchLabels: { a: "2" } } } },
      { "spec.selector.matchLabels.a": "UPDATE!" },
    ],
    [
      "apps/v1",
      "StatefulSet",
      { spec: { serviceName: "a" } },
      { spec: { serviceName: "b" } },
      { "spec.serviceName": "UPDATE!" },
    ],
    [
      "apps/v1",
      "StatefulSet",
      { spec: { replicas: 1 } },
      { spec: { replicas: 2 } },
      { "spec.replicas": "UPDATE" },
    ],
    [
      "batch/v1",
      "Job",
      { spec: { template: { spec: { a: 1 } } } },
      { spec: { template: { spec: { a: 2 } } } },
      { "spec.template.spec.a": "UPDATE!" },
    ],
    [
      "v1",
      "PersistentVolumeClaim",
      { spec: { storageClassName: "a" } },
      { spec: { storageClassName: "b" } },
      { "spec.storageClassName": "UPDATE!" },
    ],
    [
      "v1",
      "PersistentVolumeClaim",
      { spec: { resources: { requests: { storage: "1Gi" } } } },
      { spec: { resources: { requests: { storage: "2Gi" } } } },
      { "spec.resources.requests.storage": "UPDATE" },
    ],
    [
      "v1",
      "Service",
      { spec: { clusterIP: "None" } },
      { spec: { clusterIP: "10.0.0.1" } },
      { "spec.clusterIP": "UPDATE!" },
    ],
    [
      "v1",
      "Service",
      { spec: { type: "ClusterIP" } },
      { spec: { type: "LoadBalancer" } },
      { "spec.type": "UPDATE" },
    ],
    [
      "v1",
      "Pod",
      { spec: { containers: [{ image: "a" }] } },
      { spec: { containers: [{ image: "b" }] } },
      { "spec.containers[0].image": "UPDATE!" },
    ],
    [
      "v1",
      "Pod",
      { metadata: { labels: { a: "1" } } },
      { metadata: { labels: { a: "2" } } },
      { "metadata.labels.a": "UPDATE" },
    ],
    [
      "rbac.authorization.k8s.io/v1",
      "RoleBinding",
      { roleRef: { name: "a" } },
      { roleRef: { name: "b" } },
      { "roleRef.name": "UPDATE!" },
    ],
    [
      "storage.k8s.io/v1",
      "StorageClass",
      { parameters: { type: "a" } },
      { parameters: { type: "b" } },
      { "parameters.type": "UPDATE!" },
    ],
    [
      "demo.example.org/v1",
      "ConfigMap",
      { data: { a: "1" } },
      { data: { a: "2" } },
      { "data.a": "UPDATE" },
    ],
  ];
  for (const [apiVersion, kind, olds, news, expected] of cases) {
    it(`classifies changes of ${apiVersion}/${kind}: ${Object.entries(expected).join(" ")}`, () => {
      const diff = diffOf({ apiVersion, kind, olds, news });
      assert.deepEqual(kindsOf(diff), expected);
      const replaces = Object.values(expected).some((change) => change.endsWith("!"));
      assert.equal(diff.replaces.length > 0, replaces);
      assert.equal(diff.deleteBeforeReplace, replaces, "the name stays, so the old one goes first");
    });
  }

  it("updates the data of ConfigMaps and Secrets in place if the provider allows it", () => {
    const mutability = { configMaps: true, secrets: true };
    for (const kind of ["ConfigMap", "Secret"]) {
      const change = { kind, olds: { data: { a: "MQ==" } }, news: { data: { a: "Mg==" } } };
      assert.deepEqual(kindsOf(diffOf({ ...change, mutability })), { "data.a": "UPDATE" });
      const news = { ...change.news, immutable: true };
      assert.equal(kindsOf(diffOf({ ...change, news, mutability }))["data.a"], "UPDATE!");
    }
  });

  it("creates a renamed object before deleting the old one", () => {
    const diff = diffOf({ kind: "ConfigMap", olds: {}, news: { metadata: { name: "y" } } });
    assert.deepEqual(diff.replaces, ["metadata.name"]);
    assert.equal(diff.deleteBeforeReplace, false);
    const moved = diffOf({ kind: "ConfigMap", olds: {}, news: { metadata: { namespace: "b" } } });
    assert.deepEqual([moved.replaces, moved.deleteBeforeReplace], [["metadata.namespace"], false]);
  });

  it("creates the replacement first if the name is generated", () => {
    const annotations = { "pulumi.com/autonamed": "true" };
    const of = (a: string) => ({ metadata: { annotations }, data: { a } });
    const diff = diffOf({ kind: "ConfigMap", olds: of("1"), news: of("2") });
    assert.deepEqual([diff.replaces, diff.deleteBeforeReplace], [["data.a"], false]);
  });

  it("matches a field from a parent, a child or any item of a list", () => {
    const field = ["spec", "containers", "*", "image"];
    assert.ok(isFieldAffected(field, ["spec", "containers", 1, "image"], "x"));
    assert.ok(isFieldAffected(field, ["spec", "containers", 1, "image", "deep"], "x"));
    assert.ok(isFieldAffected(field, ["spec"], { containers: [{}, { image: "x" }] }));
    assert.ok(!isFieldAffected(field, ["spec"], { containers: [{ name: "x" }] }));
    assert.ok(!isFieldAffected(field, ["spec", "containers", 1, "name"], "x"));
    assert.ok(!isFieldAffected(field, ["spec", "containers", 1], undefined));
    assert.equal(listReplacingFields({ apiVersion: "v9", kind: "?" }, immutable).length, 2);
  });
});
