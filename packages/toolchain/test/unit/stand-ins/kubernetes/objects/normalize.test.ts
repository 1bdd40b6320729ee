import { strict as assert } from "node:assert";
import fc from "fast-check";
import {
  listMountedClaims,
  isEmpty,
  normalize,
  pruneToShape,
  getPodSelector,
} from "../../../../../stand-ins/kubernetes/objects/normalize.js";
import {
  parseQuantity,
  normalizeQuantity,
  isSameQuantity,
} from "../../../../../stand-ins/kubernetes/objects/quantity.js";
import type { Json, JsonObject } from "../../../../../stand-ins/plugin/values.js";

const object = (apiVersion: string, kind: string, rest: JsonObject = {}): JsonObject => ({
  apiVersion,
  kind,
  metadata: { name: "x" },
  ...rest,
});

describe("kubernetes stand-in: normalize", () => {
  it("drops fields that the server sets", () => {
    const metadata = {
      name: "x",
      uid: "1",
      generation: 2,
      resourceVersion: "3",
      managedFields: [],
      creationTimestamp: null,
      labels: { a: "b" },
    };
    assert.deepEqual(normalize(object("v1", "Pod", { metadata }))["metadata"], {
      name: "x",
      labels: { a: "b" },
    });
  });

  it("converts a Secret's stringData to data, which it overrides", () => {
    const secret = object("v1", "Secret", {
      data: { a: "MQ==", b: "MQ==" },
      stringData: { b: "2" },
    });
    assert.deepEqual(normalize(secret)["data"], { a: "MQ==", b: "Mg==" });
    assert.ok(!("stringData" in normalize(secret)));
  });

  it("writes base64 without line breaks, as the server does", () => {
    const secret = object("v1", "Secret", { data: { a: "MTIz\nNDU2\n" } });
    assert.deepEqual(normalize(secret)["data"], { a: "MTIzNDU2" });
  });

  it("drops empty string maps, empty lists and nulls of built-in kinds", () => {
    const pod = {
      nodeSelector: {},
      tolerations: [],
      hostNetwork: false,
      enableServiceLinks: false,
      priority: null,
      volumes: [{ name: "v", emptyDir: {} }],
      containers: [{ name: "c", env: [{ name: "EMPTY", value: "" }], securityContext: {} }],
    };
    assert.deepEqual(normalize(object("v1", "Pod", { spec: pod }))["spec"], {
      enableServiceLinks: false,
      volumes: [{ name: "v", emptyDir: {} }],
      containers: [{ name: "c", env: [{ name: "EMPTY" }], securityContext: {} }],
    });
  });

  it("keeps empty values inside string maps, and lists whose emptiness has a meaning", () => {
    const data = { empty: "", value: "" };
    assert.deepEqual(normalize(object("v1", "ConfigMap", { data }))["data"], data);
    const role = object("rbac.authorization.k8s.io/v1", "ClusterRole", { rules: [] });
    assert.deepEqual(normalize(role)["rules"], []);
  });

  it("keeps custom resources unchanged, including those under k8s.io", () => {
    for (const apiVersion of ["demo.example.org/v1", "snapshot.storage.k8s.io/v1"]) {
      const custom = object(apiVersion, "Thing", { data: {}, list: [], nothing: null });
      assert.deepEqual(normalize(custom), custom);
    }
  });

  it("drops a CustomResourceDefinition's status and the default of preserveUnknownFields", () => {
    const crd = object("apiextensions.k8s.io/v1", "CustomResourceDefinition", {
      spec: { group: "g", preserveUnknownFields: false },
      status: { conditions: [] },
    });
    assert.deepEqual(normalize(crd)["spec"], { group: "g" });
    assert.ok(!("status" in normalize(crd)));
  });

  it("changes nothing while a value is unknown", () => {
    const data = { later: "04da6b54-80e4-46f7-96ec-b56ff0331ba9" };
    const map = object("v1", "ConfigMap", { data, binaryData: {} });
    assert.deepEqual(normalize(map), map);
  });

  it("changes nothing the second time and never its argument", () => {
    const values = fc.dictionary(
      fc.constantFrom("data", "labels", "args", "hostNetwork", "value", "spec"),
      fc.constantFrom({}, [], null, false, "", "x", { a: "" }, [{}]),
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(values, (spec) => {
        const input = object("apps/v1", "Deployment", { spec: spec as JsonObject });
        const before = structuredClone(input);
        const once = normalize(input);
        assert.deepEqual(input, before);
        assert.deepEqual(normalize(once), once);
      }),
    );
  });
});

describe("kubernetes stand-in: pruneToShape", () => {
  it("keeps live values of the keys in the inputs", () => {
    const live = { spec: { replicas: 3, added: 1 }, status: {} };
    assert.deepEqual(pruneToShape(live, { spec: { replicas: 1, gone: 2 } }), {
      spec: { replicas: 3 },
    });
  });

  it("compares lists by index and keeps lists of another type whole", () => {
    const live: JsonObject = { a: [{ name: "x", more: 1 }, { name: "y" }], b: ["1", "2"] };
    assert.deepEqual(pruneToShape(live, { a: [{ name: "x" }], b: [{ name: "x" }] }), {
      a: [{ name: "x" }],
      b: ["1", "2"],
    });
  });

  it("returns the object itself for its own shape", () => {
    const value = { a: [{ b: { c: [1, "2", { d: null }] } }], e: "f" };
    assert.deepEqual(pruneToShape(value, value), value);
  });

  it("recognises empty values", () => {
    const nothing: (Json | undefined)[] = [undefined, null, false, 0, "", [], {}, { a: { b: [] } }];
    for (const value of nothing) {
      assert.ok(isEmpty(value), JSON.stringify(value));
    }
    for (const value of [true, 1, "x", [0], { a: "x" }]) assert.ok(!isEmpty(value));
  });

  it("reads selectors and claims of workloads", () => {
    const workload: JsonObject = {
      spec: {
        selector: { matchLabels: { app: "x" } },
        template: {
          spec: { volumes: [{ persistentVolumeClaim: { claimName: "data" } }, { emptyDir: {} }] },
        },
      },
    };
    assert.deepEqual(getPodSelector(workload), { app: "x" });
    assert.deepEqual(listMountedClaims(workload), ["data"]);
  });
});

describe("kubernetes stand-in: quantities", () => {
  const same: [string | number, string | number][] = [
    ["0.5", "500m"],
    [1, "1"],
    ["1024Mi", "1Gi"],
    ["1e3", "1k"],
    ["0.1", "100m"],
    ["1.5Gi", "1536Mi"],
    [".5", "0.5"],
    ["2E", "2000P"],
  ];
  for (const [a, b] of same) {
    it(`treat ${a} and ${b} as equal`, () => {
      assert.ok(isSameQuantity(a, b));
      assert.ok(isSameQuantity(b, a));
    });
  }
  const written: [string | number, string][] = [
    ["0.5", "500m"],
    [1, "1"],
    [0, "0"],
    ["1000m", "1"],
    ["1024Mi", "1Gi"],
    ["1.5Gi", "1536Mi"],
    ["1536Mi", "1536Mi"],
    ["2000", "2k"],
    ["128974848", "128974848"],
    ["1e3", "1e3"],
    ["0.1", "100m"],
    ["text", "text"],
  ];
  for (const [given, canonical] of written) {
    it(`normalise ${given} to ${canonical}`, () => {
      assert.equal(normalizeQuantity(given), canonical);
      assert.equal(normalizeQuantity(canonical), canonical);
    });
  }
  it("are normalised in quantity fields only, without changing the amount", () => {
    const resources = { requests: { cpu: 0.5, memory: "1024Mi" }, claims: [{ name: "0.5" }] };
    const pod = object("v1", "Pod", { spec: { containers: [{ resources }] } });
    assert.deepEqual(normalize(pod)["spec"], {
      containers: [
        { resources: { requests: { cpu: "500m", memory: "1Gi" }, claims: [{ name: "0.5" }] } },
      ],
    });
    fc.assert(
      fc.property(fc.integer({ min: 0 }), fc.constantFrom("", "m", "k", "Ki", "Mi"), (n, unit) => {
        assert.ok(isSameQuantity(normalizeQuantity(`${n}${unit}`), `${n}${unit}`));
      }),
    );
  });
  it("distinguish amounts from texts", () => {
    assert.ok(!isSameQuantity("1Gi", "1G"));
    assert.ok(!isSameQuantity("x", "y"));
    assert.ok(isSameQuantity("x", "x"));
    assert.ok(!isSameQuantity(undefined, "1"));
    for (const text of ["", "1 Gi", "Gi", "1.2.3", "0x1"])
      assert.equal(parseQuantity(text), undefined);
  });
  it("scale milli and kibi for any whole number", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000 }), (n) => {
        assert.ok(isSameQuantity(`${n}000m`, n));
        assert.ok(isSameQuantity(`${n}Ki`, n * 1024));
      }),
    );
  });
});
