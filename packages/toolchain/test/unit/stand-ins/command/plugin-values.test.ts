import assert from "node:assert/strict";
import fc from "fast-check";
import {
  listChangedProperties,
  computeDetailedDiff,
  isSameValue,
} from "../../../../stand-ins/plugin/diff.js";
import {
  decodeStruct,
  hasUnknown,
  isSecret,
  reveal,
  signatureKey,
  signatures,
  encodeStruct,
  unknownString,
} from "../../../../stand-ins/plugin/values.js";
import type { Json, JsonObject } from "../../../../stand-ins/plugin/values.js";
import { secret } from "./harness.js";

/**
 * Generator of JSON objects. Each object is converted to text and back, which removes -0. No object
 * has the key `__proto__`.
 */
const json = fc
  .dictionary(fc.string({ minLength: 1 }), fc.jsonValue({ maxDepth: 3 }), { maxKeys: 5 })
  .map((value) => JSON.parse(JSON.stringify(value)) as JsonObject)
  .filter((value) => !JSON.stringify(value).includes("__proto__"));

describe("property values", () => {
  it("are unchanged after encoding and decoding", () => {
    fc.assert(
      fc.property(json, (value) => {
        assert.deepEqual(decodeStruct(encodeStruct(value)), value);
      }),
    );
  });

  it("convert output values to plain values, secrets and unknowns", () => {
    const output = (more: JsonObject): JsonObject => ({
      [signatureKey]: signatures.output,
      ...more,
    });
    const read = decodeStruct(
      encodeStruct({
        plain: output({ value: 1, dependencies: ["urn"] }),
        hidden: [output({ value: "s", secret: true })],
        later: { inner: output({}) },
      }),
    );
    assert.deepEqual(read, {
      plain: 1,
      hidden: [secret("s")],
      later: { inner: unknownString },
    });
    assert.ok(hasUnknown(read));
  });

  it("are revealed at every depth", () => {
    assert.deepEqual(reveal({ a: secret({ b: secret("c") }), d: [secret(1)] }), {
      a: { b: "c" },
      d: [1],
    });
    assert.equal(isSecret(secret(null)), true);
  });
});

describe("computeDetailedDiff", () => {
  const diff = (olds: JsonObject, news: JsonObject): Record<string, string> =>
    Object.fromEntries(computeDetailedDiff(olds, news));

  it("is empty exactly for equal values", () => {
    fc.assert(
      fc.property(json, json, (a, b) => {
        assert.deepEqual(diff(a, a), {});
        assert.equal(computeDetailedDiff(a, b).size === 0, isSameValue(a, b));
      }),
    );
  });

  it("is mirrored if the values are swapped", () => {
    const other: Readonly<Record<string, string>> = {
      ADD: "DELETE",
      DELETE: "ADD",
      UPDATE: "UPDATE",
    };
    fc.assert(
      fc.property(json, json, (a, b) => {
        const turned = Object.entries(diff(b, a)).map(([path, kind]) => [path, other[kind]]);
        assert.deepEqual(Object.fromEntries(turned), diff(a, b));
      }),
    );
  });

  it("names paths as the engine does", () => {
    const olds = { triggers: ["a"], environment: { A: "1", "x.y": "1" }, gone: 1 };
    const news = { triggers: ["b", "c"], environment: { A: "2", "x.y": "2" }, added: 1 };
    assert.deepEqual(diff(olds, news), {
      "triggers[0]": "UPDATE",
      "triggers[1]": "ADD",
      "environment.A": "UPDATE",
      'environment["x.y"]': "UPDATE",
      gone: "DELETE",
      added: "ADD",
    });
    const names = listChangedProperties(computeDetailedDiff(olds, news));
    assert.deepEqual(names, ["added", "environment", "gone", "triggers"]);
  });

  it("reports a secret as a whole, and changed secretness as a change", () => {
    const connection = (host: string): Json => secret({ host });
    assert.deepEqual(diff({ c: connection("a") }, { c: connection("b") }), { c: "UPDATE" });
    assert.deepEqual(diff({ c: connection("a") }, { c: connection("a") }), {});
    assert.deepEqual(diff({ c: "a" }, { c: secret("a") }), { c: "UPDATE" });
  });

  it("compares assets by hash", () => {
    const asset = (hash: string, text?: string): JsonObject => ({
      [signatureKey]: signatures.asset,
      hash,
      ...(text !== undefined && { text }),
    });
    assert.deepEqual(diff({ source: asset("1", "x") }, { source: asset("1") }), {});
    assert.deepEqual(diff({ source: asset("1") }, { source: asset("2") }), { source: "UPDATE" });
  });
});
