import type { z } from "zod";
import { ipv6Modes, type Ipv6AddressMode } from "../../../base/ip-addresses.js";
import { getPodNetworkTraits, type PodNetworkSpec } from "../../pod-network/pod-network-kinds.js";
import { findRangeOverlapConflicts } from "../../schema/cidr-overlap.js";
import { doc, oneOf, ipv6RangeField, strictObject } from "../../schema/fields.js";

/** IPv6 ranges of a dual-stack cluster. */
export const ipv6Schema = strictObject({
  nodes: ipv6RangeField("fd00:10::/64", [64, 64]).meta(
    doc(
      "refused",
      "IPv6 range of the machines, which makes the cluster dual-stack: machines and pods have an address of each family, and Services can have both. The range is a second subnet of the machines' network, on the same router. The API, etcd, SSH and load balancers use IPv4 only. An existing cluster can neither gain nor lose it.",
      "**required** with `network.ipv6`; without it there is no IPv6",
    ),
  ),
  mode: oneOf(ipv6Modes)
    .default("slaac")
    .meta(
      doc(
        "refused",
        "How machines get their IPv6 addresses. `slaac`: from the port's MAC address and the router's advertisement. `dhcpv6-stateful`: from Neutron's DHCP, for pod networks that encapsulate packets.",
      ),
    ),
  pods: ipv6RangeField("fd00:10:244::/56", [48, 64])
    .default("fd00:10:244::/56")
    .meta(doc("refused", "IPv6 range of the pods; each machine gets a /64 of it.")),
  services: ipv6RangeField("fd00:10:96::/112", [108, 124])
    .default("fd00:10:96::/112")
    .meta(doc("refused", "IPv6 range of the Services' virtual addresses.")),
}).optional();

export type Ipv6Spec = z.output<typeof ipv6Schema>;

interface Written {
  readonly network: {
    readonly ipv6?: Ipv6Spec;
    readonly existing?: object | undefined;
    readonly mtu?: number | undefined;
  };
  readonly podNetwork: PodNetworkSpec;
  readonly cloudController: {
    readonly networking?: { readonly ipv6SupportDisabled?: boolean | undefined } | undefined;
  };
  readonly kubernetes: {
    readonly controllerManager: { readonly extraArgs: Readonly<Record<string, unknown>> };
  };
}

/** Smallest MTU that IPv6 allows, in bytes. */
const leastMtu = 1280;

const wrong = (path: string, input: unknown, message: string): z.core.$ZodRawIssue => ({
  code: "custom",
  path: path.split("."),
  input,
  message,
});

/** Reports settings that contradict `network.ipv6`. */
export function findIpv6Conflicts({
  network: { ipv6: asked, existing, mtu },
  podNetwork,
  cloudController,
  kubernetes,
}: Written): z.core.$ZodRawIssue[] {
  if (!asked) return [];
  return [
    ...findRangeOverlapConflicts("network.ipv6", asked),
    ...withPodNetwork(podNetwork, asked.mode, mtu),
    ...oneMask(kubernetes.controllerManager.extraArgs),
    ...(existing
      ? [
          wrong(
            "network.ipv6",
            asked,
            "needs a subnet of the cluster's own, and of network.existing nothing is made; leave one of them out",
          ),
        ]
      : []),
    ...(cloudController.networking?.ipv6SupportDisabled === true
      ? [
          wrong(
            "cloudController.networking.ipv6SupportDisabled",
            true,
            "would remove the nodes' addresses of network.ipv6; leave it out",
          ),
        ]
      : []),
  ];
}

/**
 * Refuses the flag `node-cidr-mask-size`, because kube-controller-manager does not start with it in
 * a dual-stack cluster.
 */
function oneMask(flags: Readonly<Record<string, unknown>>): z.core.$ZodRawIssue[] {
  const flag = "node-cidr-mask-size";
  if (!(flag in flags)) return [];
  return [
    {
      ...wrong(
        "kubernetes.controllerManager.extraArgs",
        flag,
        `is for one family; write ${flag}-ipv4`,
      ),
      path: ["kubernetes", "controllerManager", "extraArgs", flag],
    },
  ];
}

function withPodNetwork(
  podNetwork: PodNetworkSpec,
  mode: Ipv6AddressMode,
  mtu: number | undefined,
): z.core.$ZodRawIssue[] {
  const { kind } = podNetwork;
  const { ipv6: able } = getPodNetworkTraits(podNetwork);
  if ("refused" in able)
    return [
      wrong("podNetwork", kind, `${kind} ${able.refused}; write another one, or no network.ipv6`),
    ];
  const least = leastMtu + able.overhead;
  return [
    ...(able.modes.includes(mode)
      ? []
      : [
          wrong(
            "network.ipv6.mode",
            mode,
            `${mode} gives machines addresses without a common range, and ${kind} routes pods' packets only between machines in the same range; write slaac`,
          ),
        ]),
    ...(mtu !== undefined && mtu < least
      ? [
          wrong(
            "network.mtu",
            mtu,
            `${String(mtu)} leaves pods less than the ${String(leastMtu)} bytes that IPv6 needs; write at least ${String(least)}`,
          ),
        ]
      : []),
  ];
}
