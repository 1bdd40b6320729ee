import assert from "node:assert/strict";
import { specOf } from "../../../support/config/spec.js";

describe("mode of kube-proxy", () => {
  it("is nftables by default with kube-router and cloud routes, which restore tables of iptables", () => {
    for (const podNetwork of ["kube-router", "cloud-routes"] as const)
      assert.deepEqual(specOf({ podNetwork }).kubernetes.kubeProxy, { mode: "nftables" });
  });

  it("is kubeadm's default with other pod networks", () => {
    for (const podNetwork of ["flannel", "calico", "canal", "none"] as const)
      assert.deepEqual(specOf({ podNetwork }).kubernetes.kubeProxy, {});
  });

  it("has no default if kube-router replaces kube-proxy", () => {
    const podNetwork = { kind: "kube-router", serviceProxy: true } as const;
    assert.deepEqual(specOf({ podNetwork }).kubernetes.kubeProxy, {});
  });

  it("is the configured mode, next to other fields", () => {
    const kubeProxy = { mode: "iptables", conntrack: { maxPerCore: 0 } };
    assert.deepEqual(specOf({ kubernetes: { kubeProxy } }).kubernetes.kubeProxy, kubeProxy);
    const others = { conntrack: { maxPerCore: 0 } };
    assert.deepEqual(specOf({ kubernetes: { kubeProxy: others } }).kubernetes.kubeProxy, {
      mode: "nftables",
      ...others,
    });
  });
});
