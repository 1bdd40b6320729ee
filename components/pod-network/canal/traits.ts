import { vxlanOverhead, vxlanTraffic } from "../flannel/traits.js";
import type { PodNetworkRow } from "../pod-network-traits.js";
import { canalOptionsSchema } from "./options.js";

/** Traits of Canal: flannel's tunnels, with network policies by Calico's Felix. */
export const canalRow: PodNetworkRow<typeof canalOptionsSchema> = {
  options: canalOptionsSchema,
  summary: "wraps them in flannel's VXLAN and enforces network policies with Calico",
  traits: () => ({
    encapsulation: "vxlan",
    overhead: vxlanOverhead,
    routedRanges: [],
    // No image is listed, because the published manifest names its images.
    images: [],
    passages: [vxlanTraffic],
    ipv6: { refused: "is published for IPv4 alone" },
    replacesKubeProxy: false,
    // ip_set and xt_set are for network policies, which are implemented with ipsets and iptables.
    kernelModules: ["vxlan", "ip_set", "xt_set"],
  }),
};
