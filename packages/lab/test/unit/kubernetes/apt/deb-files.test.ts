import assert from "node:assert/strict";
import { getProgramFile } from "../../../../kubernetes/apt/deb-files.js";
import { getKubernetesRelease as releaseOf } from "../../../../kubernetes/catalog/versions.js";

const release = releaseOf("1.36.3");

describe("getProgramFile", () => {
  it("returns the file in the component's directory", () => {
    const [component] = release.components;
    assert.ok(component);
    const built = new Map([
      ["kubernetes", { component, directory: "/cache/kubernetes", key: "", seconds: 0 }],
    ]);
    assert.equal(getProgramFile(built, "kubernetes/kubelet"), "/cache/kubernetes/kubelet");
    assert.throws(() => getProgramFile(built, "etcd/etcd"), /etcd is not built/);
  });
});
