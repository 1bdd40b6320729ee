import assert from "node:assert/strict";
import { onePlusOne } from "../support/emulated-stack.js";
import { describeVariant } from "../support/variant.js";

describeVariant("a cluster with flannel and the VXLAN backend", {
  name: "vxlan",
  settings: { ...onePlusOne(), podNetwork: { kind: "flannel" } },
  policies: false,
  look: async (stack) => {
    assert.match(await stack.on("general-0", "ip -d link show flannel.1"), /vxlan id 1 /);
  },
});
