import assert from "node:assert/strict";
import { programFile } from "../../../../kubernetes/apt/deb-files.js";
import { release as releaseOf } from "../../../../kubernetes/catalog/versions.js";

const release = releaseOf("1.36.3");

describe("program files", () => {
  it("lie in their component's folder", () => {
    const [component] = release.components;
    assert.ok(component);
    const built = new Map([
      ["kubernetes", { component, directory: "/cache/kubernetes", key: "", seconds: 0 }],
    ]);
    assert.equal(programFile(built, "kubernetes/kubelet"), "/cache/kubernetes/kubelet");
    assert.throws(() => programFile(built, "etcd/etcd"), /etcd is not built/);
  });
});
