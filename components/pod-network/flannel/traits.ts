import type { PodNetworkTraffic, PodNetworkRow, PodNetworkTraits } from "../pod-network-traits.js";
import { flannelOptionsSchema, type FlannelOptions } from "./options.js";

/** UDP port of VXLAN in the Linux kernel, which is also flannel's default. */
export const vxlanPort = 8472;

/** Number of bytes in the headers: Ethernet 14, IPv4 20, UDP 8 and VXLAN 8. */
export const vxlanOverhead = 50;

/**
 * Number of bytes that a tunnel over IPv6 adds to a packet. An IPv6 header is 20 bytes longer than
 * an IPv4 header.
 */
export const vxlanIpv6Overhead = vxlanOverhead + 20;

/**
 * Firewall rule for VXLAN. Other rules already allow all UDP between nodes, but a pod network must
 * not depend on those rules.
 */
export const vxlanTraffic: PodNetworkTraffic = {
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

/** Traits of flannel for each backend. */
const traits: Readonly<Record<FlannelOptions["backend"], PodNetworkTraits>> = {
  // Each node has a tunnel to every other node. The machines may be in different subnets, if they
  // reach each other.
  vxlan: {
    ...common,
    encapsulation: "vxlan",
    overhead: vxlanOverhead,
    routedRanges: [],
    passages: [vxlanTraffic],
    ipv6: { modes: ["slaac", "dhcpv6-stateful"], overhead: vxlanIpv6Overhead },
    kernelModules: ["vxlan"],
  },
  // Each node has a route to every other node. All nodes are in one subnet, so Neutron delivers the
  // packets of pods unchanged.
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

export const flannelRow: PodNetworkRow<typeof flannelOptionsSchema> = {
  options: flannelOptionsSchema,
  summary:
    "wraps them in VXLAN, or routes them, and has no network policies: a NetworkPolicy has no effect",
  namespace: "kube-flannel",
  traits: ({ backend }) => traits[backend],
};
