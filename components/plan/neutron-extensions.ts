import type { NeutronExtension } from "../../openstack/checks/cluster-requirements.js";
import type { ClusterSpec } from "../config/cluster-spec.js";
import {
  getAddressPairRanges,
  isRoutedByCloud,
  suggestedPodNetworks,
} from "../pod-network/pod-network-kinds.js";

const { usual, wrapped } = suggestedPodNetworks;

/** Extension that the program needs for the marks of its objects. */
const tags: NeutronExtension = {
  aliases: ["standard-attr-tag"],
  reason: "tags: the program marks its networks, ports and security groups with tags",
  instead: "ask the cloud's operator to offer it",
};

/** Returns the extensions that the network of the cluster needs. */
const listNetworkExtensions = ({
  network: { existing, portSecurity },
}: ClusterSpec): NeutronExtension[] => [
  ...(existing
    ? []
    : [
        {
          aliases: ["router"] as const,
          reason: "network: the program creates a router",
          instead: "write network.existing",
        },
        {
          aliases: ["port-security"] as const,
          reason: "network: the program creates a network with port security",
          instead: "create a network yourself, and write network.existing",
        },
      ]),
  portSecurity
    ? {
        aliases: ["security-group"] as const,
        reason: "network.portSecurity: true needs security groups",
        instead: "write network.portSecurity: false",
      }
    : {
        aliases: ["port-security"] as const,
        reason: "network.portSecurity: false needs ports without port security",
        instead: "leave network.portSecurity out",
      },
];

/** Returns the extensions that the ports and routes of the pod network and the endpoint need. */
const listRoutingExtensions = ({
  endpoint,
  network,
  podNetwork,
}: ClusterSpec): NeutronExtension[] => {
  const { kind } = podNetwork;
  const pairs = { aliases: ["allowed-address-pairs"] as const };
  // The cloud controller adds an address pair for each route.
  const needsPairs =
    isRoutedByCloud(podNetwork) || getAddressPairRanges({ podNetwork, network }).length > 0;
  return [
    ...(isRoutedByCloud(podNetwork)
      ? [
          {
            aliases: ["extraroute", "extraroute-atomic"] as const,
            reason: `podNetwork: ${kind} needs routers with static routes`,
            instead: `write another pod network, such as ${usual}`,
          },
        ]
      : []),
    ...(network.portSecurity && needsPairs
      ? [
          {
            ...pairs,
            reason: `podNetwork: ${kind} needs ports with allowed address pairs`,
            instead: `write podNetwork: ${wrapped}`,
          },
        ]
      : []),
    ...(network.portSecurity && endpoint.kind === "virtual-ip"
      ? [
          {
            ...pairs,
            reason: "endpoint: virtual-ip needs ports with allowed address pairs",
            instead: "write another endpoint, such as load-balancer",
          },
        ]
      : []),
  ];
};

/**
 * Returns the extensions of Neutron that the cluster needs, with what to write for a cloud without
 * them.
 */
export const listNeutronExtensions = (spec: ClusterSpec): NeutronExtension[] => [
  tags,
  ...listNetworkExtensions(spec),
  ...listRoutingExtensions(spec),
];
