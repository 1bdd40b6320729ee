import assert from "node:assert/strict";
import { onePlusOne } from "./support/emulated-stack.js";
import { describeVariant } from "./support/variant.js";

describeVariant("a cluster of Debian 13 whose kube-proxy uses nftables", {
  name: "trixie",
  settings: {
    ...onePlusOne("debian-13-emulated"),
    kubernetes: { kubeProxy: { mode: "nftables" } },
  },
  look: async (stack) => {
    assert.match(await stack.on("general-0", "cat /etc/os-release"), /VERSION_CODENAME=trixie/);
    assert.match(await stack.on("general-0", "nft list tables"), /table ip kube-proxy/);
  },
});
