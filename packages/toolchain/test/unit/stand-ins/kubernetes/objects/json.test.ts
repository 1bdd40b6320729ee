import { strict as assert } from "node:assert";
import fc from "fast-check";
import {
  getValueAt,
  isEqual,
  getListAt,
  getMapAt,
  getNumberAt,
  removeAt,
  rewrite,
  setAt,
  getTextAt,
  getTextMapAt,
  omitKeys,
} from "../../../../../stand-ins/kubernetes/objects/json.js";
import {
  annotate,
  getAnnotation,
  getApiVersion,
  findCondition,
  getDisplayName,
  formatId,
  isObserved,
  isOwnedBy,
  isAnnotationTrue,
  parseId,
} from "../../../../../stand-ins/kubernetes/objects/object-fields.js";
import { isObject } from "../../../../../stand-ins/plugin/values.js";
import type { Json, JsonObject } from "../../../../../stand-ins/plugin/values.js";

const object: JsonObject = {
  apiVersion: "apps/v1",
  metadata: { name: "x", namespace: "demo", labels: { a: "1", n: 2 } },
  spec: { replicas: 3, list: [1], flag: false },
};
const key = fc.stringMatching(/^[a-z]{1,4}$/);
const json = fc.jsonValue({ maxDepth: 3 }) as fc.Arbitrary<Json>;

describe("kubernetes stand-in: JSON", () => {
  it("reads paths, and returns empty values for missing or mistyped fields", () => {
    assert.equal(getTextAt(object, "metadata", "name"), "x");
    assert.equal(getTextAt(object, "spec", "replicas"), "");
    assert.equal(getNumberAt(object, "spec", "replicas"), 3);
    assert.equal(getNumberAt(object, "metadata", "name"), undefined);
    assert.deepEqual(getListAt(object, "spec", "list"), [1]);
    assert.deepEqual(getListAt(object, "spec", "none"), []);
    assert.deepEqual(getMapAt(object, "spec", "list"), {});
    assert.deepEqual(getTextMapAt(object, "metadata", "labels"), { a: "1" });
    assert.equal(getValueAt(object, "spec", "flag"), false);
    assert.equal(getValueAt(undefined, "a"), undefined);
    assert.equal(getValueAt(object), object);
  });

  it("sets and removes values at any path", () => {
    fc.assert(
      fc.property(fc.array(key, { minLength: 1, maxLength: 5 }), json, (path, value) => {
        const target: JsonObject = {};
        setAt(target, path, value);
        assert.deepEqual(getValueAt(target, ...path), value);
        removeAt(target, path);
        assert.equal(getValueAt(target, ...path), undefined);
        removeAt(target, path);
      }),
    );
  });

  it("replaces values that are not objects on the way to a path", () => {
    const target: JsonObject = { a: "text" };
    setAt(target, ["a", "b"], 1);
    assert.deepEqual(target, { a: { b: 1 } });
    setAt(target, [], 2);
    assert.deepEqual(target, { a: { b: 1 } });
  });

  it("compares as Node does", () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        const copy = JSON.parse(JSON.stringify(a)) as Json;
        assert.ok(isEqual(copy, JSON.parse(JSON.stringify(copy)) as Json));
        assert.equal(isEqual(a, b), isEqual(b, a));
      }),
    );
    assert.ok(isEqual({ a: 1, b: [null] }, { b: [null], a: 1 }));
    for (const [a, b] of [
      [{ a: 1 }, {}],
      [[1], [1, 2]],
      [null, {}],
      ["1", 1],
      [[], {}],
    ] as Json[][]) {
      assert.ok(!isEqual(a, b));
    }
  });

  it("rewrites from the innermost values outwards, including keys", () => {
    const answer = rewrite(
      { a: [1, { b: 2 }] },
      (value) => (typeof value === "number" ? value + 1 : value),
      (name) => name.toUpperCase(),
    );
    assert.deepEqual(answer, { A: [2, { B: 3 }] });
  });

  it("omits keys without changing the original", () => {
    assert.deepEqual(omitKeys({ a: 1, b: 2 }, "a", "c"), { b: 2 });
    assert.ok(isObject({}) && !isObject([]) && !isObject(null) && !isObject("x"));
  });
});

describe("kubernetes stand-in: objects", () => {
  it("have IDs that can be parsed", () => {
    assert.equal(formatId(object), "demo/x");
    assert.deepEqual(parseId("demo/x"), { namespace: "demo", name: "x" });
    assert.equal(formatId({ metadata: { name: "x" } }), "x");
    assert.deepEqual(parseId("x"), { namespace: "", name: "x" });
  });

  it("are named in messages without the default namespace", () => {
    assert.equal(getDisplayName(object), "demo/x");
    assert.equal(getDisplayName({ metadata: { name: "x", namespace: "default" } }), "x");
  });

  it("use the core group under both names", () => {
    assert.equal(getApiVersion({ apiVersion: "core/v1" }), "v1");
    assert.equal(getApiVersion(object), "apps/v1");
  });

  it("have annotations", () => {
    const annotated: JsonObject = { metadata: { name: "x" } };
    annotate(annotated, "pulumi.com/skipAwait", "true");
    assert.equal(getAnnotation(annotated, "pulumi.com/skipAwait"), "true");
    assert.ok(isAnnotationTrue(annotated, "pulumi.com/skipAwait"));
    assert.ok(!isAnnotationTrue(object, "pulumi.com/skipAwait"));
  });

  it("belong to their owners by UID", () => {
    const owner = { metadata: { uid: "1" } };
    assert.ok(isOwnedBy({ metadata: { ownerReferences: [{ uid: "1" }] } }, owner));
    assert.ok(!isOwnedBy({ metadata: { ownerReferences: [{ uid: "2" }] } }, owner));
    assert.ok(!isOwnedBy(object, owner));
  });

  it("have conditions, and report whether their controller has observed them", () => {
    const status = { observedGeneration: 2, conditions: [{ type: "Ready", status: "True" }] };
    const live: JsonObject = { metadata: { generation: 2 }, status };
    assert.deepEqual(findCondition(live, "Ready"), { status: "True", reason: "", message: "" });
    assert.equal(findCondition(live, "Other"), undefined);
    assert.equal(findCondition(object, "Ready"), undefined);
    assert.ok(isObserved(live));
    assert.ok(!isObserved({ ...live, metadata: { generation: 3 } }));
  });
});
