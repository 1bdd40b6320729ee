import { strict as assert } from "node:assert";
import fc from "fast-check";
import {
  annotateSecrets,
  containsSecret,
  toKubernetesObject,
  toProperties,
} from "../../../../../stand-ins/kubernetes/objects/wire.js";
import {
  wrapSecret,
  decodeStruct,
  hasUnknown,
  isSecret,
  isUnknown,
  encodeStruct,
} from "../../../../../stand-ins/plugin/values.js";
import type { Json, JsonObject } from "../../../../../stand-ins/plugin/values.js";

const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

const json = fc.letrec<{ value: Json; map: JsonObject }>((tie) => ({
  map: fc.dictionary(fc.stringMatching(/^[a-z]{1,6}$/), tie("value"), {
    maxKeys: 4,
    noNullPrototype: true,
  }),
  value: fc.oneof(
    { maxDepth: 3 },
    fc.string(),
    fc.boolean(),
    fc.integer(),
    fc.constant(null),
    fc.array(tie("value"), { maxLength: 3 }),
    tie("map"),
  ),
})).map;

describe("kubernetes stand-in: wire format", () => {
  it("transports any JSON through protobuf unchanged", () => {
    fc.assert(
      fc.property(json, (value) => {
        assert.deepEqual(decodeStruct(encodeStruct(value)), value);
      }),
    );
  });

  it("reads a missing struct as empty", () => {
    assert.deepEqual(decodeStruct(undefined), {});
  });

  it("finds secrets and unknowns at any depth, and none in plain JSON", () => {
    fc.assert(
      fc.property(json, (value) => {
        assert.equal(containsSecret(value), false);
        assert.equal(hasUnknown(value), false);
        assert.equal(containsSecret({ a: [value, { b: wrapSecret(value) }] }), true);
        assert.equal(hasUnknown({ a: [value, { b: unknown }] }), true);
      }),
    );
  });

  it("removes secret marks at any depth", () => {
    fc.assert(
      fc.property(json, (value) => {
        assert.deepEqual(toKubernetesObject({ a: wrapSecret(value), b: [wrapSecret(value)] }), {
          a: value,
          b: [value],
        });
      }),
    );
  });

  it("marks a value only once", () => {
    const once = wrapSecret("x");
    assert.ok(isSecret(once));
    assert.deepEqual(wrapSecret(once), once);
  });

  it("recognises the engine's placeholders for unknown values of every type", () => {
    assert.ok(isUnknown(unknown));
    assert.ok(isUnknown("6a19a0b0-7e62-4c92-b797-7f8e31da9cc2"));
    assert.ok(!isUnknown("6a19a0b0"));
    assert.ok(!isUnknown(undefined));
  });

  it("converts x-kubernetes-* between Kubernetes' dashes and the SDK's underscores", () => {
    const object = { spec: [{ "x-kubernetes-preserve-unknown-fields": true, "x-other": 1 }] };
    const properties = { spec: [{ x_kubernetes_preserve_unknown_fields: true, "x-other": 1 }] };
    assert.deepEqual(toProperties(object), properties);
    assert.deepEqual(toKubernetesObject(properties), object);
  });
});

describe("kubernetes stand-in: secrets of outputs", () => {
  const annotated = (outs: JsonObject, ins: JsonObject): JsonObject => {
    annotateSecrets(outs, ins);
    return outs;
  };

  it("hide the data of a Secret always, even if written in clear", () => {
    const outs = annotated({ kind: "Secret", data: { p: "eA==" }, stringData: { q: "x" } }, {});
    assert.ok(isSecret(outs["data"]));
    assert.ok(isSecret(outs["stringData"]));
  });

  it("hide only the secret part", () => {
    const outs = annotated(
      { kind: "ConfigMap", data: { open: "1", closed: "2" } },
      { data: { open: "1", closed: wrapSecret("2") } },
    );
    assert.deepEqual(outs["data"], { open: "1", closed: wrapSecret("2") });
  });

  it("hide a whole list for one secret item, because items may move", () => {
    const outs = annotated(
      { spec: { args: ["a", "b"] } },
      { spec: { args: ["a", wrapSecret("b")] } },
    );
    assert.deepEqual(outs["spec"], { args: wrapSecret(["a", "b"]) });
  });

  it("hide a map whose input is secret as a whole, and add nothing", () => {
    const outs = annotated(
      { spec: { a: 1 } },
      { spec: wrapSecret({ a: 1 }), other: wrapSecret(1) },
    );
    assert.deepEqual(outs, { spec: wrapSecret({ a: 1 }) });
  });

  it("keep other values visible", () => {
    fc.assert(
      fc.property(json, json, (outs, ins) => {
        const before = structuredClone(outs);
        if (outs["kind"] !== "Secret") assert.deepEqual(annotated(outs, ins), before);
      }),
    );
  });
});
