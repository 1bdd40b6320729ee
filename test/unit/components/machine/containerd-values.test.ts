import { strict as assert } from "node:assert";
import { parseClusterSpec } from "../../../../components/config/cluster-spec.js";
import { getContainerdChecksum } from "../../../../components/machine/containerd-values.js";
import { smallest } from "../../../support/config/spec.js";

const checksum = (over: object = {}): string => {
  const result = parseClusterSpec({ ...smallest, ...over });
  assert.ok("spec" in result, JSON.stringify(result));
  return getContainerdChecksum(result.spec);
};
const login = (password: string, host = "r.example"): object => ({
  kubernetes: { registries: { [host]: { user: "me", password } } },
});

describe("getContainerdChecksum", () => {
  it("changes with each setting whose change restarts containerd", () => {
    const all = [
      {},
      { kubernetes: { images: { pause: "r.example/pause:3.10" } } },
      { kubernetes: { kubelet: { cgroupDriver: "cgroupfs" } } },
      { kubernetes: { registry: { prefix: "mirror.example/k8s" } } },
      login("one"),
      login("one", "s.example"),
      { network: { proxy: { https: "http://p.example:3128" } } },
    ].map(checksum);
    assert.equal(new Set(all).size, all.length);
  });

  it("ignores passwords and settings that do not restart containerd", () => {
    assert.equal(checksum(login("one")), checksum(login("other")));
    for (const kubernetes of [
      { packages: { containerd: { generation: 1 } } },
      { registries: { "r.example": { mirrors: ["https://s.example"] } } },
      { version: "1.35.4" },
    ])
      assert.equal(checksum({ kubernetes }), checksum());
  });
});
