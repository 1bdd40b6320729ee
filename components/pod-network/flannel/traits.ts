import type { PodNetworkTraits } from "../kinds.js";

/** The Linux kernel's own port for VXLAN, which is flannel's default too. */
export const vxlanPort = 8472;

/** A tunnel from each node to every other one: works wherever machines reach each other. */
export const flannel: PodNetworkTraits = {
  summary:
    "wraps them in VXLAN, 50 bytes more each, and has no network policies: a NetworkPolicy has no effect",
  encapsulation: "vxlan",
  // Headers of Ethernet 14, IPv4 20, UDP 8 and VXLAN 8.
  overhead: 50,
  routedRanges: [],
  images: ["flannelCniPlugin", "flannel"],
  passages: [
    // Within what all machines may send to each other, but nothing that this network needs should depend on that.
    {
      name: "vxlan",
      from: "machines",
      protocol: "udp",
      ports: [vxlanPort, vxlanPort],
      reason: "Pods reach each other in VXLAN",
    },
  ],
  replacesKubeProxy: false,
  kernelModules: ["vxlan"],
};
