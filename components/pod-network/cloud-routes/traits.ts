import type { PodNetworkRow } from "../pod-network-traits.js";
import { cloudRoutesOptions } from "./options.js";

/**
 * Facts about `cloud-routes`. On the cluster's router, the cloud controller keeps a route to each
 * node's pods; it also allows the pods' addresses at the node's port. kube-router, without BGP,
 * connects pods to their machine and enforces network policies.
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
    // Modules for network policies, which are sets of addresses in iptables rules.
    kernelModules: ["ip_set", "xt_set"],
  }),
};
