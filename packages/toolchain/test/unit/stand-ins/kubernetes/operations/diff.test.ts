import { strict as assert } from "node:assert";
import fc from "fast-check";
import {
  diffResource,
  formatPath,
  parsePath,
} from "../../../../../stand-ins/kubernetes/operations/diff.js";
import { diffOf, immutable, kindsOf } from "../support/diff-case.js";

const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

describe("kubernetes stand-in: diff", () => {
  it("reports no change for equal inputs and any fields that the server added", () => {
    const spec = { replicas: 1, template: { spec: { containers: [{ name: "c" }] } } };
    const live = {
      spec: { strategy: {}, template: { spec: { dnsPolicy: "ClusterFirst" } } },
      status: {},
    };
    const diff = diffOf({
      kind: "Deployment",
      apiVersion: "apps/v1",
      olds: { spec },
      news: { spec },
      live,
    });
    assert.deepEqual(kindsOf(diff), {});
    assert.deepEqual(diff.replaces, []);
  });

  it("reports a change by another client", () => {
    const spec = { replicas: 1 };
    const live = { spec: { replicas: 5 } };
    const diff = diffOf({
      kind: "Deployment",
      apiVersion: "apps/v1",
      olds: { spec },
      news: { spec },
      live,
    });
    assert.deepEqual(kindsOf(diff), { "spec.replicas": "UPDATE" });
  });

  it("reports additions, deletions and changes by their paths", () => {
    const olds = {
      metadata: { labels: { old: "1" } },
      spec: { ports: [{ port: 1 }, { port: 2 }] },
    };
    const news = {
      metadata: { annotations: { "a.b/c": "1" } },
      spec: { ports: [{ port: 9, name: "web" }] },
    };
    assert.deepEqual(kindsOf(diffOf({ kind: "Service", olds, news })), {
      "metadata.annotations": "ADD",
      "metadata.labels": "DELETE",
      "spec.ports[0].port": "UPDATE",
      "spec.ports[0].name": "ADD",
      "spec.ports[1]": "DELETE",
    });
  });

  it("ignores different notations of quantities, flags and texts", () => {
    const container = (cpu: string | number) => ({
      resources: { limits: { cpu, memory: "1024Mi" } },
    });
    const inputs = {
      spec: { template: { spec: { hostUsers: false, containers: [container(0.5)] } } },
    };
    const live = {
      spec: {
        template: {
          spec: { containers: [{ resources: { limits: { cpu: "500m", memory: "1Gi" } } }] },
        },
      },
    };
    const stored = {
      apiVersion: "apps/v1",
      kind: "DaemonSet",
      metadata: { name: "x", namespace: "demo" },
    };
    const diff = diffResource({
      olds: { ...stored, ...live, __inputs: { ...stored, ...inputs } },
      news: { ...stored, ...inputs },
      ignoreChanges: [],
      namespaced: true,
      mutability: immutable,
    });
    assert.deepEqual(kindsOf(diff), {});
  });

  it("reports an added zero", () => {
    const diff = diffOf({
      kind: "Deployment",
      apiVersion: "apps/v1",
      olds: { spec: {} },
      news: { spec: { replicas: 0 } },
    });
    assert.deepEqual(kindsOf(diff), { "spec.replicas": "ADD" });
  });

  it("reports unknown values as changes", () => {
    const diff = diffOf({
      kind: "Service",
      olds: { spec: { a: "1" } },
      news: { spec: { a: unknown, b: unknown } },
    });
    assert.deepEqual(kindsOf(diff), { "spec.a": "UPDATE", "spec.b": "ADD" });
  });

  it("ignores the paths of ignoreChanges, including whole subtrees", () => {
    const olds = { spec: { a: 1, b: { c: 1, d: 1 }, list: [{ e: 1 }] } };
    const news = { spec: { a: 2, b: { c: 2, d: 2 }, list: [{ e: 2 }] } };
    const ignored = (...ignoreChanges: string[]) =>
      Object.keys(kindsOf(diffOf({ kind: "Service", olds, news, ignoreChanges }))).sort();
    assert.deepEqual(ignored("spec.b"), ["spec.a", "spec.list[0].e"]);
    assert.deepEqual(ignored("spec.b.c", "spec.list[*].e"), ["spec.a", "spec.b.d"]);
    assert.deepEqual(ignored("spec"), []);
  });

  it("is empty exactly if old and new inputs are equal", () => {
    const data = fc.dictionary(
      fc.stringMatching(/^[a-z."[\]]{1,5}$/),
      fc.string({ minLength: 1 }),
      {
        minKeys: 1,
        noNullPrototype: true,
        maxKeys: 4,
      },
    );
    fc.assert(
      fc.property(data, data, (before, after) => {
        const diff = diffOf({ kind: "ConfigMap", olds: { data: before }, news: { data: after } });
        const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
        const changed = [...keys].filter((key) => before[key] !== after[key]);
        assert.deepEqual(
          [...diff.changes.keys()].sort(),
          changed.map((key) => formatPath(["data", key])).sort(),
        );
        assert.equal(diff.replaces.length, changed.length);
      }),
    );
  });
});

describe("kubernetes stand-in: property paths", () => {
  it("are written and parsed for every path", () => {
    const step = fc.oneof(
      fc.nat({ max: 20 }),
      fc.string({ minLength: 1 }).filter((text) => !text.includes("\\")),
    );
    fc.assert(
      fc.property(fc.array(step, { minLength: 1, maxLength: 5 }), (rest) => {
        const path = ["spec", ...rest];
        assert.deepEqual(parsePath(formatPath(path)), path);
      }),
    );
  });
  it("accept the wildcard of ignoreChanges", () => {
    assert.deepEqual(parsePath('a[*].b["c.d"][3]'), ["a", "*", "b", "c.d", 3]);
  });
});
