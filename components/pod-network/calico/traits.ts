import type { PodNetworkTraffic, PodNetworkRow, PodNetworkTraits } from "../pod-network-traits.js";
import { calicoOptionsSchema, type CalicoOptions } from "./options.js";

/** UDP port of Calico's VXLAN. IANA assigned this port to VXLAN. */
const vxlanPort = 4789;

const common = {
  // No image is listed, because the published manifest names its images.
  images: [],
  replacesKubeProxy: false,
} as const;

/** Number of bytes in the headers: Ethernet 14, UDP 8, VXLAN 8, and IPv4 20 or IPv6 40. */
const overheads = { ipv4: 50, ipv6: 70 } as const;

/** Kernel modules for network policies, which are implemented with ipsets and iptables. */
const policies = ["ip_set", "xt_set"] as const;

const tunnelTraffic: PodNetworkTraffic = {
  name: "calico-vxlan",
  from: "machines",
  protocol: "udp",
  ports: [vxlanPort, vxlanPort],
  reason: "Pods reach each other in VXLAN",
};
const podTraffic: PodNetworkTraffic = {
  name: "pods",
  from: "pods",
  reason: "Pods reach each other without encapsulation",
};

/** Traits of Calico for each encapsulation. */
const traits: Readonly<Record<CalicoOptions["encapsulation"], PodNetworkTraits>> = {
  vxlan: {
    ...common,
    encapsulation: "vxlan",
    overhead: overheads.ipv4,
    routedRanges: [],
    passages: [tunnelTraffic],
    ipv6: { modes: ["slaac", "dhcpv6-stateful"], overhead: overheads.ipv6 },
    kernelModules: ["vxlan", ...policies],
  },
  "vxlan-cross-subnet": {
    ...common,
    encapsulation: "cross-subnet",
    overhead: overheads.ipv4,
    routedRanges: ["pods"],
    passages: [tunnelTraffic, podTraffic],
    ipv6: { modes: ["slaac"], overhead: overheads.ipv6 },
    kernelModules: ["vxlan", ...policies],
  },
  ipip: {
    ...common,
    encapsulation: "ipip",
    // IPIP adds a second IPv4 header of 20 bytes.
    overhead: 20,
    routedRanges: [],
    passages: [
      { name: "ipip", from: "machines", protocol: "4", reason: "Pods reach each other in IPIP" },
    ],
    ipv6: { refused: "with `encapsulation: ipip` wraps IPv4 alone" },
    kernelModules: ["ipip", ...policies],
  },
  none: {
    ...common,
    encapsulation: "none",
    overhead: 0,
    routedRanges: ["pods"],
    passages: [podTraffic],
    ipv6: { modes: ["slaac"], overhead: 0 },
    kernelModules: policies,
  },
};

export const calicoRow: PodNetworkRow<typeof calicoOptionsSchema> = {
  options: calicoOptionsSchema,
  summary: "wraps or routes them and enforces network policies, Kubernetes' and its own",
  traits: ({ encapsulation }) => ({
    ...traits[encapsulation],
    assignsPodRanges: true,
    podRangeObjects: {
      resource: "blockaffinities.crd.projectcalico.org",
      template:
        '{{range .items}}{{if ne (print .spec.deleted) "true"}}{{.spec.node}} {{.spec.cidr}}{{"\\n"}}{{end}}{{end}}',
    },
  }),
};
