import type { PodNetworkRow } from "../traits.js";
import { cloudRoutesOptions } from "./options.js";

/**
 * A route to each machine's pods on the cluster's router, which the cloud controller keeps as nodes come and go; it allows the
 * same addresses at their ports. kube-router, without its BGP, attaches pods to their machine and filters.
 */
export const cloudRoutes: PodNetworkRow<typeof cloudRoutesOptions> = {
  options: cloudRoutesOptions,
  summary:
    "routes their packets as they are, over the cluster's router, where the cloud controller keeps a route to each machine's pods, and enforces network policies",
  traits: () => ({
    encapsulation: "none",
    overhead: 0,
    routedRanges: [],
    routesOfCloud: true,
    images: ["kubeRouter"],
    passages: [
      { name: "pods", from: "pods", reason: "Pods reach each other without encapsulation" },
    ],
    ipv6: { refused: "keeps routes for IPv4 alone" },
    replacesKubeProxy: false,
    // Network policies are sets of addresses that iptables asks.
    kernelModules: ["ip_set", "xt_set"],
  }),
};
