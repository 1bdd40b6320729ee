import type { Passage, PodNetworkRow, PodNetworkTraits } from "../traits.js";
import { flannelOptions, type FlannelOptions } from "./options.js";

/** Port of the Linux kernel for VXLAN, which is also flannel's default. */
export const vxlanPort = 8472;

/** Bytes of the headers: Ethernet 14, IPv4 20, UDP 8 and VXLAN 8. */
export const vxlanOverhead = 50;

/** Overhead of IPv6 packets: their tunnel uses IPv6, whose header is 20 bytes longer. */
export const vxlanOverheadOfIpv6 = vxlanOverhead + 20;

/**
 * Rule for VXLAN. Nodes accept all UDP from each other, but pod networks must not depend on that.
 */
export const vxlanPassage: Passage = {
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

/** Traits by backend. */
const traits: Readonly<Record<FlannelOptions["backend"], PodNetworkTraits>> = {
  // A tunnel from each node to every other one: works wherever machines reach each other.
  vxlan: {
    ...common,
    encapsulation: "vxlan",
    overhead: vxlanOverhead,
    routedRanges: [],
    passages: [vxlanPassage],
    ipv6: { modes: ["slaac", "dhcpv6-stateful"], overhead: vxlanOverheadOfIpv6 },
    kernelModules: ["vxlan"],
  },
  // A route to each other node, all in one subnet: Neutron delivers the pods' packets unchanged.
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
