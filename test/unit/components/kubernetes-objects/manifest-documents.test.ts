import assert from "node:assert/strict";
import {
  divideIntoStages,
  readManifestDocuments,
  type ManifestDocument,
} from "../../../../components/kubernetes-objects/manifest-documents.js";

const objectsIn = (text: string): readonly ManifestDocument[] => {
  const read = readManifestDocuments(text);
  assert.ok("objects" in read, JSON.stringify(read));
  return read.objects;
};
const problemsIn = (text: string): readonly string[] => {
  const read = readManifestDocuments(text);
  assert.ok("problems" in read, JSON.stringify(read));
  return read.problems;
};
const configMap = (data: string): string =>
  `apiVersion: v1\nkind: ConfigMap\nmetadata: { name: one }\ndata: ${data}\n`;

describe("the reader of manifests", () => {
  it("reads YAML 1.1 as kubectl does: octal numbers and booleans, but no times", () => {
    const [object] = objectsIn(configMap("{ a: 0644, b: yes, c: 12:30, d: 2026-01-31, e: 1e3 }"));
    const data = { a: 420, b: true, c: "12:30", d: "2026-01-31", e: 1000 };
    assert.deepEqual(object?.["data"], data);
  });

  it("reads the objects of a List and skips empty documents", () => {
    const items = "items: [{ apiVersion: v1, kind: Pod, metadata: { name: a } }]";
    const list = `---\n# comment\n---\napiVersion: v1\nkind: List\n${items}\n---\n${configMap("{}")}`;
    assert.deepEqual(
      objectsIn(list).map(({ kind }) => kind),
      ["Pod", "ConfigMap"],
    );
  });

  it("reports all problems of a manifest with the document that has each", () => {
    const text = [
      "kind: Pod",
      "apiVersion: v1\nkind: Pod\nmetadata: { generateName: a- }",
      "a: [",
      "apiVersion: v1\nkind: Pod\nmetadata: { name: a, namespace: 3 }",
    ].join("\n---\n");
    const problems = problemsIn(text);
    assert.deepEqual(problems.slice(0, 2), [
      "document 1 has no apiVersion or no kind; write a Kubernetes object",
      "document 2 (Pod) has no metadata.name; write a fixed name",
    ]);
    assert.match(problems[2] ?? "", /^document 3 is not YAML: /);
    assert.match(
      problems[3] ?? "",
      /^document 4 \(Pod a\) has a metadata.namespace that is no text/,
    );
  });

  it("refuses a manifest without objects", () => {
    assert.deepEqual(problemsIn("# nothing\n"), [
      "it holds no object; write at least one Kubernetes object",
    ]);
  });
});

describe("the stages of a manifest", () => {
  const crd = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: { name: issuers.example.org }
spec: { group: example.org, names: { kind: Issuer } }`;
  const others = ["v1 Namespace", "v1 ConfigMap", "apps/v1 Deployment", "example.org/v1 Issuer"]
    .concat("other.org/v1 Issuer", "other.org/v1 Role", "rbac.authorization.k8s.io/v1 Role")
    .map((type) => {
      const [apiVersion = "", kind = ""] = type.split(" ");
      return `apiVersion: ${apiVersion}\nkind: ${kind}\nmetadata: { name: a }`;
    });

  it("contain custom resources last, and unknown kinds with the workloads", () => {
    const stages = divideIntoStages(objectsIn([...others, crd].join("\n---\n")));
    const shown = Object.entries(stages).map(([stage, objects]) => [
      stage,
      objects.map(({ apiVersion, kind }) => `${apiVersion} ${kind}`),
    ]);
    assert.deepEqual(Object.fromEntries(shown), {
      scopes: ["v1 Namespace", "apiextensions.k8s.io/v1 CustomResourceDefinition"],
      settings: ["v1 ConfigMap", "rbac.authorization.k8s.io/v1 Role"],
      workloads: ["apps/v1 Deployment", "other.org/v1 Issuer", "other.org/v1 Role"],
      custom: ["example.org/v1 Issuer"],
    });
  });
});
