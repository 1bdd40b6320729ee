import assert from "node:assert/strict";
import { onePlusOne } from "../support/emulated-stack.js";
import { describeVariant } from "../support/variant.js";

describeVariant("a cluster with flannel and the host-gw backend", {
  name: "hostgw",
  settings: { ...onePlusOne(), podNetwork: { kind: "flannel", backend: "host-gw" } },
  policies: false,
  look: async (stack) => {
    const routes = await stack.on("general-0", "ip route");
    assert.match(routes, /^10\.244\.\d+\.0\/24 via 10\.0\.0\.\d+ dev ens3/m);
  },
});
