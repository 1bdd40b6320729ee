import { strict as assert } from "node:assert";
import { diffConfig, readProviderSettings } from "../../../../stand-ins/kubernetes/settings.js";
import type { JsonObject } from "../../../../stand-ins/plugin/values.js";

const kubeconfig = (server: string, token = "t"): string =>
  JSON.stringify({
    "current-context": "a",
    contexts: [{ name: "a", context: { cluster: "a", user: "a" } }],
    clusters: [{ name: "a", cluster: { server } }],
    users: [{ name: "a", user: { token } }],
  });
const one = kubeconfig("https://one");
const two = kubeconfig("https://two");
const unknown = "04da6b54-80e4-46f7-96ec-b56ff0331ba9";

describe("kubernetes stand-in: replacement after a change of the provider's cluster", () => {
  const cases: [string, JsonObject, JsonObject, string[] | undefined][] = [
    ["the same settings", { kubeconfig: one }, { kubeconfig: one }, undefined],
    ["another cluster", { kubeconfig: one }, { kubeconfig: two }, ["kubeconfig"]],
    [
      "another user of the same cluster",
      { kubeconfig: one },
      { kubeconfig: kubeconfig("https://one", "u") },
      [],
    ],
    ["an unknown kubeconfig", { kubeconfig: one }, { kubeconfig: unknown }, ["kubeconfig"]],
    [
      "another cluster under the same identifier",
      { kubeconfig: one, clusterIdentifier: "c" },
      { kubeconfig: two, clusterIdentifier: "c" },
      [],
    ],
    [
      "an unknown kubeconfig under the same identifier",
      { kubeconfig: one, clusterIdentifier: "c" },
      { kubeconfig: unknown, clusterIdentifier: "c" },
      [],
    ],
    [
      "another identifier",
      { kubeconfig: one, clusterIdentifier: "c" },
      { kubeconfig: one, clusterIdentifier: "d" },
      ["clusterIdentifier"],
    ],
    [
      "an identifier is added",
      { kubeconfig: one },
      { kubeconfig: one, clusterIdentifier: "c" },
      [],
    ],
    [
      "an identifier is removed",
      { kubeconfig: one, clusterIdentifier: "c" },
      { kubeconfig: one },
      [],
    ],
    ["only the version", { kubeconfig: one, version: "1" }, { kubeconfig: one, version: "2" }, []],
  ];
  for (const [what, olds, news, replaces] of cases) {
    it(`${what}: ${replaces === undefined ? "no change" : `replaces ${replaces.join(", ") || "nothing"}`}`, () => {
      assert.deepEqual(diffConfig(olds, news)?.replaces, replaces);
    });
  }
  it("reports the changed settings", () => {
    assert.deepEqual(diffConfig({ a: 1, b: 1 }, { b: 2, c: 1 })?.diffs, ["a", "b", "c"]);
  });
});

describe("kubernetes stand-in: settings", () => {
  const read = (variables: Record<string, string>, environment: Record<string, string> = {}) =>
    readProviderSettings(
      (name) => variables[name],
      (name) => environment[name],
    );

  it("have the official defaults", () => {
    assert.deepEqual(read({}), {
      kubeconfig: undefined,
      overrides: { context: undefined, cluster: undefined, namespace: undefined },
      configMapsMutable: false,
      secretsMutable: false,
      patchForce: false,
      upsert: false,
      deleteUnreachable: false,
    });
  });
  it("are read from arguments, else from the environment", () => {
    const settings = read(
      { upsertExistingObjects: "true", enablePatchForce: "false", namespace: "x", context: "" },
      { PULUMI_K8S_ENABLE_PATCH_FORCE: "true", PULUMI_K8S_DELETE_UNREACHABLE: "true" },
    );
    assert.equal(settings.upsert, true);
    assert.equal(settings.patchForce, false);
    assert.equal(settings.deleteUnreachable, true);
    assert.deepEqual(settings.overrides, {
      context: undefined,
      cluster: undefined,
      namespace: "x",
    });
  });
  it("refuse unsupported modes", () => {
    assert.throws(() => read({ enableServerSideApply: "false" }), /server-side apply/);
    assert.throws(() => read({ skipUpdateUnreachable: "true" }), /does not skip updates/);
    assert.throws(() => read({ renderYamlToDirectory: "/x" }), /render YAML/);
  });
});
