import assert from "node:assert/strict";
import { onePlusOne } from "../support/emulated-stack.js";
import { describeVariant } from "../support/variant.js";

describeVariant("a cluster with kube-router as service proxy", {
  name: "proxy",
  settings: { ...onePlusOne(), podNetwork: { kind: "kube-router", serviceProxy: true } },
  look: async (stack) => {
    assert.match(await stack.on("general-0", "cat /proc/net/ip_vs"), /^TCP +0A600001:01BB/m);
    const proxies = await stack.kubectl("-n kube-system get pods -l k8s-app=kube-proxy -o name");
    assert.equal(proxies.trim(), "");
  },
});
