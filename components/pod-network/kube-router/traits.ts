import type { PodNetworkRow } from "../kinds.js";

/** An iBGP mesh of all nodes, which are in one subnet: Neutron delivers the pods' packets as they are. */
export const kubeRouter: PodNetworkRow<"kube-router"> = {
  summary: "routes their packets as they are and enforces network policies",
  traits: () => ({
    encapsulation: "none",
    overhead: 0,
    routedRanges: ["pods", "services"],
    images: ["kubeRouter"],
    passages: [
      { name: "pods", from: "pods", reason: "Pods reach each other without encapsulation" },
    ],
    replacesKubeProxy: false,
    // Network policies are sets of addresses that iptables asks.
    kernelModules: ["ip_set", "xt_set"],
  }),
};
