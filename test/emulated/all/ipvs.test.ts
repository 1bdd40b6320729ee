import assert from "node:assert/strict";
import { onePlusOne } from "../support/emulated-stack.js";
import { describeVariant } from "../support/variant.js";

describeVariant("a cluster whose kube-proxy uses IPVS", {
  name: "ipvs",
  settings: { ...onePlusOne(), kubernetes: { kubeProxy: { mode: "ipvs" } } },
  look: async (stack) => {
    assert.match(await stack.on("general-0", "cat /proc/net/ip_vs"), /^TCP +0A600001:01BB/m);
  },
});
