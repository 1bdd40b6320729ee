import assert from "node:assert/strict";
import { withRecordedDefaults } from "../../../../components/config/recorded-defaults.js";

describe("withRecordedDefaults", () => {
  const recorded = {
    "kubernetes.version": "1.35.4",
    "kubernetes.kubeProxy.mode": "nftables",
    "loadBalancer.provider": "ovn",
    "network.pods": "10.1.0.0/16",
  };

  it("adds the recorded values of settings that are not written", () => {
    assert.deepEqual(withRecordedDefaults({ name: "dev" }, recorded), {
      name: "dev",
      kubernetes: { version: "1.35.4", kubeProxy: { mode: "nftables" } },
      loadBalancer: { provider: "ovn" },
    });
  });

  it("keeps written values, also of the same section", () => {
    const args = { kubernetes: { version: "1.36.3", kubeProxy: { clusterCIDR: "10.0.0.0/8" } } };
    assert.deepEqual(withRecordedDefaults(args, recorded), {
      kubernetes: {
        version: "1.36.3",
        kubeProxy: { clusterCIDR: "10.0.0.0/8", mode: "nftables" },
      },
      loadBalancer: { provider: "ovn" },
    });
  });

  it("changes nothing for a new cluster, or for arguments that are not an object", () => {
    assert.deepEqual(withRecordedDefaults({ name: "dev" }, undefined), { name: "dev" });
    assert.deepEqual(withRecordedDefaults({ name: "dev" }, {}), { name: "dev" });
    assert.equal(withRecordedDefaults("text", recorded), "text");
  });
});
