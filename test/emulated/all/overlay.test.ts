import assert from "node:assert/strict";
import { onePlusOne } from "../support/emulated-stack.js";
import { describeVariant } from "../support/variant.js";

describeVariant("a cluster with kube-router and a full IPIP overlay", {
  name: "overlay",
  settings: { ...onePlusOne(), podNetwork: { kind: "kube-router", overlay: "full" } },
  look: async (stack) => {
    assert.match(await stack.on("general-0", "ip -d link show type ipip"), /tun-/);
  },
});
