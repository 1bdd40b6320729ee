import { strict as assert } from "node:assert";
import fc from "fast-check";
import {
  checkResource,
  createUniqueName,
} from "../../../../../stand-ins/kubernetes/operations/check.js";
import type { CheckInput } from "../../../../../stand-ins/kubernetes/operations/check.js";
import { getMapAt, getTextAt } from "../../../../../stand-ins/kubernetes/objects/json.js";
import {
  parseGvkFromUrn,
  isListType,
  isPatchType,
  parseNameFromUrn,
} from "../../../../../stand-ins/kubernetes/objects/kinds.js";
import { getSupportedInputs } from "../../../../../stand-ins/kubernetes/supported-inputs.js";
import { wrapSecret } from "../../../../../stand-ins/plugin/values.js";
import type { JsonObject } from "../../../../../stand-ins/plugin/values.js";

const urnOf = (type: string, name = "thing"): string => `urn:pulumi:dev::project::${type}::${name}`;
const configMap = urnOf("kubernetes:core/v1:ConfigMap");

const check = (news: JsonObject, more: Partial<CheckInput> = {}): JsonObject =>
  checkResource({
    urn: configMap,
    olds: {},
    news: { apiVersion: "v1", kind: "ConfigMap", ...news },
    randomSeed: new Uint8Array([1, 2, 3]),
    namespace: "default",
    ...more,
  });

describe("kubernetes stand-in: check", () => {
  it("names an object without a name, deterministically, and marks the name", () => {
    const first = check({});
    assert.match(getTextAt(first, "metadata", "name"), /^thing-[0-9a-f]{8}$/);
    assert.equal(getTextAt(first, "metadata", "annotations", "pulumi.com/autonamed"), "true");
    assert.deepEqual(check({}), first);
  });

  it("keeps a generated name", () => {
    const old = check({});
    const again = check({}, { olds: old, randomSeed: new Uint8Array([9]) });
    assert.equal(getTextAt(again, "metadata", "name"), getTextAt(old, "metadata", "name"));
  });

  it("does not keep a name that the user wrote", () => {
    const olds = { metadata: { name: "by-hand" } };
    assert.equal(getTextAt(check({}, { olds }), "metadata", "name"), "");
  });

  it("follows the stack's autonaming", () => {
    const proposed = check({}, { autonaming: { disabled: false, proposedName: "proposed" } });
    assert.equal(getTextAt(proposed, "metadata", "name"), "proposed");
    assert.throws(
      () => check({}, { autonaming: { disabled: true, proposedName: "" } }),
      /autonaming is disabled/,
    );
  });

  it("sets the namespace only for namespaced kinds", () => {
    const metadata = { name: "x" };
    assert.equal(getTextAt(check({ metadata }), "metadata", "namespace"), "default");
    const none = check({ metadata }, { namespace: undefined });
    assert.ok(!("namespace" in getMapAt(none, "metadata")));
    const own = check({ metadata: { name: "x", namespace: "own" } });
    assert.equal(getTextAt(own, "metadata", "namespace"), "own");
  });

  it("keeps secrets marked in the response", () => {
    const answer = check({ metadata: { name: "x" }, data: { a: wrapSecret("s"), b: "c" } });
    assert.deepEqual(answer["data"], { a: wrapSecret("s"), b: "c" });
  });

  it("refuses unsupported input in one sentence", () => {
    const metadata = { name: "x" };
    assert.throws(
      () => check({ metadata }, { urn: urnOf("kubernetes:core/v1:ConfigMapPatch") }),
      /does not handle Patch resources \(ConfigMapPatch\)/,
    );
    assert.throws(
      () => check({ kind: "ConfigMapList" }, { urn: urnOf("kubernetes:core/v1:ConfigMapList") }),
      /list resources exist for compatibility/,
    );
    assert.throws(() => check({ metadata: { generateName: "x-" } }), /generateName/);
  });

  it("derives eight hexadecimal digits from any seed, and others from another seed", () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), fc.uint8Array({ minLength: 1 }), (a, b) => {
        assert.match(createUniqueName("p-", a), /^p-[0-9a-f]{8}$/);
        assert.equal(createUniqueName("p-", a), createUniqueName("p-", a));
        if (Buffer.compare(a, b) !== 0)
          assert.notEqual(createUniqueName("p-", a), createUniqueName("p-", b));
      }),
    );
    assert.notEqual(createUniqueName("p-"), createUniqueName("p-"));
  });
});

describe("kubernetes stand-in: kinds", () => {
  it("are parsed from URNs, including those with parents", () => {
    const urn = urnOf("stackadm:addons:Addons$kubernetes:apps/v1:Deployment", "a::b");
    assert.deepEqual(parseGvkFromUrn(urn), { group: "apps", version: "v1", kind: "Deployment" });
    assert.equal(parseNameFromUrn(urn), "a::b");
    assert.deepEqual(parseGvkFromUrn(configMap), { group: "", version: "v1", kind: "ConfigMap" });
    assert.throws(() => parseGvkFromUrn(urnOf("kubernetes:oops:Thing")), /group and a version/);
  });

  it("distinguish patches and lists from kinds with similar endings", () => {
    assert.ok(isPatchType(urnOf("kubernetes:core/v1:PodPatch"), "Pod"));
    assert.ok(!isPatchType(urnOf("kubernetes:demo.example.org/v1:OatPatch"), "OatPatch"));
    assert.ok(isListType(urnOf("kubernetes:apps/v1:DeploymentList")));
    assert.ok(!isListType(urnOf("kubernetes:demo.example.org/v1:AllowList")));
  });

  it("have supported inputs only if the stand-in handles them", () => {
    assert.equal(getSupportedInputs("kubernetes:apps/v1:Deployment"), "any");
    assert.equal(
      getSupportedInputs("kubernetes:snapshot.storage.k8s.io/v1:VolumeSnapshotClass"),
      "any",
    );
    assert.equal(getSupportedInputs("kubernetes:core/v1:ConfigMapPatch"), undefined);
    assert.equal(getSupportedInputs("kubernetes:helm.sh/v3:Release"), undefined);
    assert.equal(getSupportedInputs("kubernetes:yaml/v2:ConfigGroup"), undefined);
    assert.equal(getSupportedInputs("openstack:compute/instance:Instance"), undefined);
    assert.ok(getSupportedInputs("pulumi:providers:kubernetes")?.includes("clusterIdentifier"));
  });
});
