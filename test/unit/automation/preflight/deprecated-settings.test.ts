import assert from "node:assert/strict";
import { findDeprecatedSettings } from "../../../../automation/preflight/deprecated-settings.js";
import { specOf } from "../../../support/config/spec.js";

describe("findDeprecatedSettings", () => {
  const found = (mode: string): string[] =>
    findDeprecatedSettings(specOf({ kubernetes: { kubeProxy: { mode } } })).map(
      ({ severity, text }) => `${severity}: ${text}`,
    );

  it("warns about the mode ipvs of kube-proxy", () => {
    assert.deepEqual(found("ipvs"), [
      "warning: kubernetes.kubeProxy.mode: Kubernetes has deprecated ipvs since 1.35, and a cluster cannot change its mode; write nftables for the next cluster",
    ]);
  });

  it("reports nothing for other modes, and without a mode", () => {
    assert.deepEqual([...found("nftables"), ...found("iptables")], []);
    assert.deepEqual(findDeprecatedSettings(specOf({ podNetwork: "flannel" })), []);
  });
});
