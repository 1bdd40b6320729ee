import type { PodNetworkTraffic, PodNetworkRow, PodNetworkTraits } from "../pod-network-traits.js";
import { kubeRouterOptionsSchema, type KubeRouterOptions } from "./options.js";

/**
 * Number of bytes that a tunnel adds to a packet. IPIP adds an IP header. FoU also adds a UDP
 * header and a GUE header.
 */
const overheads = { ipip: 20, fou: 32 } as const;

/** Packets of pods with the pods' own addresses. */
const podTraffic: PodNetworkTraffic = {
  name: "pods",
  from: "pods",
  reason: "Pods reach each other without encapsulation",
};

/** Packets of pods in the packets of a tunnel between machines, by the kind of the tunnel. */
const tunnelTraffic = {
  ipip: { name: "pods-in-ipip", from: "machines", protocol: "4", reason: "Pods' packets in IPIP" },
  fou: {
    name: "pods-in-fou",
    from: "machines",
    protocol: "udp",
    ports: [5555, 5555],
    reason: "Pods' packets in UDP",
  },
} as const satisfies Record<KubeRouterOptions["tunnel"], PodNetworkTraffic>;

/**
 * Returns how packets travel between machines, and the traffic that firewalls must allow for it.
 */
function pathOf({ overlay, tunnel, advertiseServices }: KubeRouterOptions) {
  const overhead = overheads[tunnel];
  switch (overlay) {
    case "off":
      return {
        path: { encapsulation: "none", overhead: 0, routedRanges: ["pods", "services"] },
        passages: [podTraffic],
      } as const;
    case "subnet":
      return {
        path: { encapsulation: "cross-subnet", overhead, routedRanges: ["pods", "services"] },
        passages: [podTraffic, tunnelTraffic[tunnel]],
      } as const;
    case "full":
      return {
        path: {
          encapsulation: tunnel,
          overhead,
          // With advertised cluster IPs, machines send replies of a Service from its cluster IP.
          routedRanges: advertiseServices.includes("cluster-ip") ? (["services"] as const) : [],
        },
        passages: [tunnelTraffic[tunnel]],
      } as const;
  }
}

/** Returns the kernel modules that kube-router needs. */
const modulesOf = ({ overlay, tunnel, serviceProxy }: KubeRouterOptions): readonly string[] => [
  // kube-router implements network policies with ipsets and iptables.
  ...["ip_set", "xt_set"],
  ...(overlay === "off" ? [] : ["ipip"]),
  ...(overlay !== "off" && tunnel === "fou" ? ["fou"] : []),
  ...(serviceProxy ? ["ip_vs", "ip_vs_rr"] : []),
];

const traits = (options: KubeRouterOptions): PodNetworkTraits => {
  const { path, passages } = pathOf(options);
  return {
    ...path,
    images: ["kubeRouter"],
    passages: [
      ...passages,
      ...options.peers.map(({ address }): PodNetworkTraffic => ({
        name: "bgp",
        from: { range: `${address}/32` },
        protocol: "tcp",
        ports: [179, 179],
        reason: "BGP of a router outside",
      })),
    ],
    // kube-router needs the prefix length of the machine's address. DHCPv6 does not provide it.
    ipv6:
      options.overlay === "off"
        ? { modes: ["slaac"], overhead: 0 }
        : { refused: `with \`overlay: ${options.overlay}\` wraps IPv4 alone` },
    replacesKubeProxy: options.serviceProxy,
    restoresTables: true,
    secrets: options.peers.map(({ password: value }, index) => ({
      path: `peers[${String(index)}].password`,
      value,
    })),
    ...(options.serviceRanges.length > 0 && { moreRanges: options.serviceRanges }),
    kernelModules: modulesOf(options),
  };
};

/**
 * Traits of kube-router. By default, all nodes are in one subnet and form an iBGP mesh without
 * encapsulation.
 */
export const kubeRouterRow: PodNetworkRow<typeof kubeRouterOptionsSchema> = {
  options: kubeRouterOptionsSchema,
  summary: "routes their packets unchanged and enforces network policies",
  traits,
};
