import type { Passage, PodNetworkRow, PodNetworkTraits } from "../traits.js";
import { flannelOptions, type FlannelOptions } from "./options.js";

/** The Linux kernel's own port for VXLAN, which is flannel's default too. */
export const vxlanPort = 8472;

/** Headers of Ethernet 14, IPv4 20, UDP 8 and VXLAN 8. */
export const vxlanOverhead = 50;

/** Packets of IPv6 travel between addresses of IPv6, whose header has 20 bytes more. */
export const vxlanOverheadOfIpv6 = vxlanOverhead + 20;

/** Within what all machines may send to each other, but nothing that such a network needs should depend on that. */
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

/** By backend. */
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
  // A route to each other node, which are all in one subnet: Neutron delivers the pods' packets as they are.
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
