import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { ClusterArgs } from "../../../../../components/config/cluster-spec.js";
import { orderUserAddons } from "../../../../../components/config/kubernetes/user-addons.js";
import { validateClusterSpec } from "../../../../../components/config/validate-cluster-spec.js";
import { smallest, specOf } from "../../../../support/config/spec.js";

const yaml = "apiVersion: v1\nkind: ConfigMap\nmetadata: { name: one }\n";
type Addons = NonNullable<ClusterArgs["addons"]>;

const problemsOf = (addons: unknown, more: object = {}, directory = "/nowhere"): string[] => {
  const result = validateClusterSpec({ ...smallest, ...more, addons }, { directory });
  return "problems" in result
    ? result.problems.map(({ path, message }) => `${path}: ${message}`)
    : [];
};

describe("the user's add-ons", () => {
  it("are valid with a manifest or YAML, and with names of the cluster's add-ons", () => {
    const addons: Addons = [
      { name: "one", yaml, after: ["podNetwork", "cloudController", "blockStorage"] },
      { name: "two", yaml: yaml.replace("one", "two"), after: ["one"] },
    ];
    assert.deepEqual(problemsOf(addons), []);
  });

  it("are refused with all problems of names, sources and order at once", () => {
    const addons = [
      { name: "ingress", yaml },
      { name: "a", yaml, manifest: "a.yaml" },
      { name: "a", after: ["b", "ingress", "c"] },
      { name: "b", manifest: "http://example.org/b.yaml", after: ["d"] },
      { name: "d", manifest: "https://example.org/d.yaml", after: ["e"] },
      { name: "e", yaml, sha256: "0".repeat(64), after: ["b"] },
      { name: "f", yaml, after: ["f"] },
    ];
    assert.deepEqual(problemsOf(addons), [
      'cluster.addons.0.name: "ingress" is an add-on of the cluster; write another name',
      "cluster.addons.1.yaml: is written in addition to `manifest`; write one of them",
      'cluster.addons.2.name: "a" is the name of an earlier add-on; write another name',
      "cluster.addons.2.manifest: nothing is written; write the path of a manifest, or `yaml`",
      'cluster.addons.2.after: "ingress" is not deployed in this cluster; leave it out',
      'cluster.addons.2.after: "c" is no add-on; write one of podNetwork, cloudController, blockStorage, metricsServer, keystone, ingress, samples, ingress, a, a, b, d, e, f',
      'cluster.addons.3.manifest: "http://example.org/b.yaml" is no https URL; write https:// or a path',
      'cluster.addons.3.after: ["d"] makes a cycle: b after d after e after b; leave one of them out',
      "cluster.addons.4.sha256: nothing is written; write the SHA-256 of the manifest, as `sha256sum` shows it",
      `cluster.addons.5.sha256: "${"0".repeat(56)}... is the digest of a manifest; leave it out with \`yaml\``,
      'cluster.addons.6.after: ["f"] makes a cycle: f after f; leave one of them out',
    ]);
  });

  it("are refused with the command that renders a kustomization or a chart", () => {
    const [kustomize, helm] = problemsOf([
      { name: "a", kustomize: "overlays/prod" },
      { name: "b", yaml, helm: "traefik" },
    ]);
    assert.match(kustomize ?? "", /kustomize is not rendered here; run `kubectl kustomize /);
    assert.match(helm ?? "", /helm is not rendered here; run `helm template /);
  });

  it("come after all add-ons of the cluster, unless they name others", () => {
    const spec = specOf({
      metricsServer: true,
      cloudController: { enabled: false },
      addons: [
        { name: "late", yaml },
        { name: "second", yaml, after: ["first"] },
        { name: "third", yaml, after: ["first", "blockStorage"] },
        { name: "first", yaml, after: [] },
      ],
    });
    const ordered = orderUserAddons(spec);
    assert.deepEqual(
      ordered.map(({ name, after, released }) => [name, after.join(), released]),
      [
        ["late", "podNetwork,blockStorage,metricsServer", true],
        ["first", "", false],
        ["second", "first", false],
        ["third", "first,blockStorage", true],
      ],
    );
  });
});

describe("the manifests of the user's add-ons", () => {
  let directory = "";
  before(() => {
    directory = mkdtempSync(join(tmpdir(), "addons-"));
    writeFileSync(join(directory, "good.yaml"), yaml);
    writeFileSync(join(directory, "bad.yaml"), "kind: Pod\n---\nkind: Pod\n");
  });
  after(() => {
    rmSync(directory, { recursive: true });
  });

  it("are read relative to the directory of the project", () => {
    assert.deepEqual(problemsOf([{ name: "a", manifest: "good.yaml" }], {}, directory), []);
  });

  it("are refused with all missing files, digests and documents at once", () => {
    const problems = problemsOf(
      [
        { name: "a", manifest: "none.yaml" },
        { name: "b", manifest: "bad.yaml" },
        { name: "c", manifest: "good.yaml", sha256: "0".repeat(64) },
        { name: "d", yaml: "a: [" },
      ],
      {},
      directory,
    );
    const starts = [
      "cluster.addons.0.manifest: none.yaml cannot be read: ENOENT",
      "cluster.addons.1.manifest: bad.yaml: document 1 has no apiVersion",
      "cluster.addons.1.manifest: bad.yaml: document 2 has no apiVersion",
      "cluster.addons.2.manifest: good.yaml has the SHA-256 ",
      "cluster.addons.3.yaml: document 1 is not YAML: ",
    ];
    assert.equal(problems.length, starts.length, problems.join("\n"));
    starts.forEach((start, index) => {
      assert.ok(problems[index]?.startsWith(start), problems[index]);
    });
  });

  it("are refused with a Secret whose values would be plain text in the settings", () => {
    const secret = "apiVersion: v1\nkind: Secret\nmetadata: { name: a }\ndata: { b: Y2FuYXJ5 }";
    assert.deepEqual(problemsOf([{ name: "a", yaml: secret }]), [
      "cluster.addons.0.yaml: Secret a would be plain text in the settings; write it in the file of a `manifest`",
    ]);
  });

  it("are refused if two of them hold the same object", () => {
    assert.deepEqual(
      problemsOf([
        { name: "a", yaml },
        { name: "b", yaml },
      ]),
      [
        "cluster.addons.1.yaml: ConfigMap one is already an object of the add-on a; write each object once",
      ],
    );
  });
});
