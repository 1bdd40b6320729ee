import { strict as assert } from "node:assert";
import fc from "fast-check";
import { containerdPackageRepository } from "../../../../../base/versions/pinned-versions.js";
import { parseClusterSpec } from "../../../../../components/config/cluster-spec.js";
import { smallest } from "../../../../support/config/spec.js";
import { containerd } from "../../../../support/config/spec-parts.js";

const key = "https://a.test/key.asc";
const problems = (over: object): string[] => {
  const result = parseClusterSpec({ ...smallest, ...containerd(over) });
  return "problems" in result ? result.problems.map(({ path }) => path) : [];
};
const at = (name: string): string => `cluster.kubernetes.packages.containerd.${name}`;

describe("kubernetes.packages.containerd", () => {
  it("is Docker's repository by default", () => {
    const result = parseClusterSpec(smallest);
    assert.ok("spec" in result);
    const expected = { ...containerdPackageRepository, generation: 0 };
    assert.deepEqual(result.spec.kubernetes.packages.containerd, expected);
  });

  it("accepts what a line of sources.list can express for one repository", () => {
    for (const source of [
      "http://172.29.0.1:8081/debian/{codename} /",
      "https://mirror.example.org/docker-{distribution}/ ./",
      "https://mirror.example.org {codename}/",
      "https://mirror.example.org/docker stable/updates main contrib",
      "https://mirror.example.org/a%20b/~c {codename}-security main",
    ])
      assert.deepEqual(problems({ source, key }), [], source);
  });

  it("refuses values with a meaning for apt, curl or a shell, and more than one repository", () => {
    for (const address of ["https://a.test", "https://a.test/x"])
      for (const rest of ["", " ", " stable", " / main", " a b\ndeb", "  a b", " a b ", " a $(b)"])
        assert.deepEqual(problems({ source: address + rest, key }), [at("source")], rest);
    for (const address of [
      ...[
        "deb https://a.test",
        "[trusted=yes] https://a.test",
        "file:/srv",
        "https://me:pw@a.test",
      ],
      ...[
        "https://{codename}.a.test",
        "https://a.test/{minor}",
        "https://a.test/'x",
        "https://a.test?x",
      ],
    ]) {
      assert.deepEqual(problems({ source: `${address} x main`, key }), [at("source")], address);
      assert.deepEqual(problems({ key: address }), [at("key")], address);
    }
  });

  it("accepts only characters without a special meaning", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        for (const source of [`https://a.test/${text} /`, `https://a.test x ${text}`])
          if (problems({ source, key }).length === 0)
            assert.match(source.replaceAll(/\{(distribution|codename)\}/g, ""), /^[\w .~%+:/-]+$/);
      }),
    );
  });

  it("requires a key for another source, so that no machine downloads Docker's key", () => {
    assert.deepEqual(problems({ source: "https://a.test/x /" }), [at("key")]);
    assert.deepEqual(problems({ key }), []);
  });
});
