import { vxlanOverhead, vxlanPassage } from "../flannel/traits.js";
import type { PodNetworkRow } from "../traits.js";
import { canalOptions } from "./options.js";

/** flannel's tunnels, with Calico's felix for the policies. */
export const canal: PodNetworkRow<typeof canalOptions> = {
  options: canalOptions,
  summary: "wraps them in flannel's VXLAN and enforces network policies with Calico",
  traits: () => ({
    encapsulation: "vxlan",
    overhead: vxlanOverhead,
    routedRanges: [],
    // Those of its manifest.
    images: [],
    passages: [vxlanPassage],
    ipv6: { refused: "is published for IPv4 alone" },
    replacesKubeProxy: false,
    // Network policies are sets of addresses that iptables asks.
    kernelModules: ["vxlan", "ip_set", "xt_set"],
  }),
};
