import type { PodNetworkTraffic, PodNetworkRow, PodNetworkTraits } from "../pod-network-traits.js";
import { flannelOptions, type FlannelOptions } from "./options.js";

/** Port of the Linux kernel for VXLAN, which is also flannel's default. */
export const vxlanPort = 8472;

/** Bytes of the headers: Ethernet 14, IPv4 20, UDP 8 and VXLAN 8. */
export const vxlanOverhead = 50;

/**
 * Bytes that a tunnel adds to an IPv6 packet. The tunnel also uses IPv6, whose header is 20 bytes
 * longer than that of IPv4.
 */
export const vxlanOverheadOfIpv6 = vxlanOverhead + 20;

/**
 * Firewall rule for VXLAN. Other rules let nodes accept all UDP from each other, but a pod network
 * must not depend on those rules.
 */
export const vxlanPassage: PodNetworkTraffic = {
  name: "vxlan",
  from: "machines",
  protocol: "udp",
  ports: [vxlanPort, vxlanPort],
  reason: "Pods reach each other in VXLAN",
};

const common = {
  images: ["flannelCniPlugin", "flannel"],
  replacesKubeProxy: false,
} as const;

/** Facts about flannel, by backend. */
const traits: Readonly<Record<FlannelOptions["backend"], PodNetworkTraits>> = {
  // Each node has a tunnel to every other node. This works wherever machines reach each other.
  vxlan: {
    ...common,
    encapsulation: "vxlan",
    overhead: vxlanOverhead,
    routedRanges: [],
    passages: [vxlanPassage],
    ipv6: { modes: ["slaac", "dhcpv6-stateful"], overhead: vxlanOverheadOfIpv6 },
    kernelModules: ["vxlan"],
  },
  // Each node has a route to every other node. All nodes are in one subnet, so Neutron delivers the
  // pods' packets unchanged.
  "host-gw": {
    ...common,
    encapsulation: "none",
    overhead: 0,
    routedRanges: ["pods"],
    passages: [
      { name: "pods", from: "pods", reason: "Pods reach each other without encapsulation" },
    ],
    ipv6: { modes: ["slaac"], overhead: 0 },
    kernelModules: [],
  },
};

export const flannel: PodNetworkRow<typeof flannelOptions> = {
  options: flannelOptions,
  summary:
    "wraps them in VXLAN, or routes them, and has no network policies: a NetworkPolicy has no effect",
  namespace: "kube-flannel",
  traits: ({ backend }) => traits[backend],
};
