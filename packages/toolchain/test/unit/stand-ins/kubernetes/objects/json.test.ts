import { strict as assert } from "node:assert";
import fc from "fast-check";
import {
  at,
  equal,
  listAt,
  mapAt,
  numberAt,
  removeAt,
  rewrite,
  setAt,
  textAt,
  textsAt,
  without,
} from "../../../../../stand-ins/kubernetes/objects/json.js";
import {
  annotate,
  annotationOf,
  apiVersionOf,
  conditionOf,
  displayName,
  idOf,
  isObserved,
  isOwnedBy,
  isTrue,
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
  it("reads paths, and what is missing or of another type as empty", () => {
    assert.equal(textAt(object, "metadata", "name"), "x");
    assert.equal(textAt(object, "spec", "replicas"), "");
    assert.equal(numberAt(object, "spec", "replicas"), 3);
    assert.equal(numberAt(object, "metadata", "name"), undefined);
    assert.deepEqual(listAt(object, "spec", "list"), [1]);
    assert.deepEqual(listAt(object, "spec", "none"), []);
    assert.deepEqual(mapAt(object, "spec", "list"), {});
    assert.deepEqual(textsAt(object, "metadata", "labels"), { a: "1" });
    assert.equal(at(object, "spec", "flag"), false);
    assert.equal(at(undefined, "a"), undefined);
    assert.equal(at(object), object);
  });

  it("sets and removes at any path", () => {
    fc.assert(
      fc.property(fc.array(key, { minLength: 1, maxLength: 5 }), json, (path, value) => {
        const target: JsonObject = {};
        setAt(target, path, value);
        assert.deepEqual(at(target, ...path), value);
        removeAt(target, path);
        assert.equal(at(target, ...path), undefined);
        removeAt(target, path);
      }),
    );
  });

  it("makes way through values that are no maps", () => {
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
        assert.ok(equal(copy, JSON.parse(JSON.stringify(copy)) as Json));
        assert.equal(equal(a, b), equal(b, a));
      }),
    );
    assert.ok(equal({ a: 1, b: [null] }, { b: [null], a: 1 }));
    for (const [a, b] of [
      [{ a: 1 }, {}],
      [[1], [1, 2]],
      [null, {}],
      ["1", 1],
      [[], {}],
    ] as Json[][]) {
      assert.ok(!equal(a, b));
    }
  });

  it("rewrites from the inside out, keys too", () => {
    const answer = rewrite(
      { a: [1, { b: 2 }] },
      (value) => (typeof value === "number" ? value + 1 : value),
      (name) => name.toUpperCase(),
    );
    assert.deepEqual(answer, { A: [2, { B: 3 }] });
  });

  it("leaves keys out and the original alone", () => {
    assert.deepEqual(without({ a: 1, b: 2 }, "a", "c"), { b: 2 });
    assert.ok(isObject({}) && !isObject([]) && !isObject(null) && !isObject("x"));
  });
});

describe("kubernetes stand-in: objects", () => {
  it("have ids that can be read back", () => {
    assert.equal(idOf(object), "demo/x");
    assert.deepEqual(parseId("demo/x"), { namespace: "demo", name: "x" });
    assert.equal(idOf({ metadata: { name: "x" } }), "x");
    assert.deepEqual(parseId("x"), { namespace: "", name: "x" });
  });

  it("are named in messages without the default namespace", () => {
    assert.equal(displayName(object), "demo/x");
    assert.equal(displayName({ metadata: { name: "x", namespace: "default" } }), "x");
  });

  it("know the core group under both names", () => {
    assert.equal(apiVersionOf({ apiVersion: "core/v1" }), "v1");
    assert.equal(apiVersionOf(object), "apps/v1");
  });

  it("carry annotations", () => {
    const annotated: JsonObject = { metadata: { name: "x" } };
    annotate(annotated, "pulumi.com/skipAwait", "true");
    assert.equal(annotationOf(annotated, "pulumi.com/skipAwait"), "true");
    assert.ok(isTrue(annotated, "pulumi.com/skipAwait"));
    assert.ok(!isTrue(object, "pulumi.com/skipAwait"));
  });

  it("belong to their owners by uid", () => {
    const owner = { metadata: { uid: "1" } };
    assert.ok(isOwnedBy({ metadata: { ownerReferences: [{ uid: "1" }] } }, owner));
    assert.ok(!isOwnedBy({ metadata: { ownerReferences: [{ uid: "2" }] } }, owner));
    assert.ok(!isOwnedBy(object, owner));
  });

  it("have conditions, and a controller that has seen them or not", () => {
    const status = { observedGeneration: 2, conditions: [{ type: "Ready", status: "True" }] };
    const live: JsonObject = { metadata: { generation: 2 }, status };
    assert.deepEqual(conditionOf(live, "Ready"), { status: "True", reason: "", message: "" });
    assert.equal(conditionOf(live, "Other"), undefined);
    assert.equal(conditionOf(object, "Ready"), undefined);
    assert.ok(isObserved(live));
    assert.ok(!isObserved({ ...live, metadata: { generation: 3 } }));
  });
});
