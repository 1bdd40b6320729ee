import type { PodNetworkRow } from "../pod-network-traits.js";
import { cloudRoutesOptionsSchema } from "./options.js";

/**
 * Traits of `cloud-routes`. On the cluster's router, the cloud controller maintains one route to
 * the pods of each node. The cloud controller also allows the pods' addresses on the node's port.
 * kube-router runs without BGP: it connects pods to their machine and enforces network policies.
 */
export const cloudRoutesRow: PodNetworkRow<typeof cloudRoutesOptionsSchema> = {
  options: cloudRoutesOptionsSchema,
  summary:
    "routes their packets unchanged, over the cluster's router, where the cloud controller keeps a route to each machine's pods, and enforces network policies",
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
    restoresTables: true,
    // Both modules are for network policies, which are implemented with ipsets and iptables.
    kernelModules: ["ip_set", "xt_set"],
  }),
};
