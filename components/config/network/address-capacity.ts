/**
 * Checks whether the address ranges are large enough for the cluster. Without these checks, kubeadm
 * would refuse a range after the machines were created, or would never finish.
 */
import type { z } from "zod";
import { getPrefixLength } from "../../../base/ip-addresses.js";
import { leastPods } from "../kubernetes/flags/kubelet.js";
import { getPodNetworkTraits, type PodNetworkSpec } from "../../pod-network/pod-network-kinds.js";

interface Written {
  readonly network: {
    readonly nodes: string;
    readonly pods: string;
    readonly services: string;
    readonly ipv6?: { readonly pods: string } | undefined;
    readonly existing?: object | undefined;
  };
  readonly podNetwork: PodNetworkSpec;
  readonly kubernetes: {
    readonly controllerManager: { readonly extraArgs: Flags };
    readonly kubelet: Flags;
  };
  /** Number of machines that become nodes. */
  readonly nodes: number;
  /** Number of all machines. Each machine has an address in the machines' network. */
  readonly machines: number;
  /**
   * Least number of other addresses in the machines' network, for load balancers and the virtual
   * IP.
   */
  readonly others: number;
}

type Flags = Readonly<Record<string, unknown>>;

/**
 * Longest and shortest prefix that kubeadm accepts for the range of Services. The cluster's DNS
 * needs the tenth address of the range. The range may have at most 2^20 addresses.
 */
const ofServices = { longest: 28, shortest: 12 };

/**
 * Number of addresses in a subnet that no machine can have: the addresses of network, router, DHCP
 * and broadcast.
 */
const reserved = 4;

/**
 * Largest difference that kubeadm accepts between the prefix length of one node's pod range and the
 * prefix length of the cluster's pod range.
 */
const furthest = 16;

/**
 * Advice at the end of error messages. An existing cluster cannot get a larger range, so the advice
 * for it is fewer machines.
 */
const instead = "write a larger range, or fewer machines if the cluster already exists";

const families = {
  pods: { flag: "node-cidr-mask-size-ipv4", usual: 24, bits: 32 },
  "ipv6.pods": { flag: "node-cidr-mask-size-ipv6", usual: 64, bits: 128 },
} as const;
const ofBoth = "node-cidr-mask-size";

/**
 * Returns the value of a flag as kubeadm reads it. If there is a list of values, this is the last
 * value. Returns undefined if the flag is absent or empty.
 */
const flagIn = (flags: Flags, name: string): number | undefined => {
  const written = flags[name];
  const last: unknown = Array.isArray(written) ? written.at(-1) : written;
  return last === undefined || last === "" ? undefined : Number(last);
};

const issue = (path: string, input: unknown, message: string): z.core.$ZodRawIssue => ({
  code: "custom",
  path: ["network", ...path.split(".")],
  input,
  message: `${String(input)} ${message}`,
});

/**
 * Reports flags for the size of a node's pod range whose value is not a prefix length, or leaves no
 * address for a pod.
 */
const wrongFlags = ({ kubernetes, network }: Written): z.core.$ZodRawIssue[] => {
  const { extraArgs: flags } = kubernetes.controllerManager;
  const perFamily = Object.values(families).map(({ flag, bits, usual }) => ({ flag, bits, usual }));
  return [{ ...families.pods, flag: ofBoth }, ...perFamily].flatMap(({ flag, bits, usual }) => {
    const value = flagIn(flags, flag);
    const most = bits - 2;
    if (value === undefined || (Number.isInteger(value) && value > 0 && value <= most)) return [];
    const message = `${String(flags[flag])} is no prefix of a node's share of network.${flag.endsWith("6") && network.ipv6 ? "ipv6.pods" : "pods"}; write a number like ${String(usual)}, at most ${String(most)}`;
    const path = ["kubernetes", "controllerManager", "extraArgs", flag];
    return [{ code: "custom" as const, path, input: flags[flag], message }];
  });
};

/**
 * Returns the prefix length of one node's share of a pod range. kubeadm reads only the flag of the
 * IP family, such as `node-cidr-mask-size-ipv4` (`checked`). In a single-stack cluster, the
 * controller manager prefers `node-cidr-mask-size`.
 */
function sharesOf(
  { network: { ipv6 }, kubernetes }: Pick<Written, "network" | "kubernetes">,
  family: keyof typeof families,
): { readonly checked: number; readonly share: number } {
  const { extraArgs: flags } = kubernetes.controllerManager;
  const { flag, usual } = families[family];
  const checked = flagIn(flags, flag) ?? usual;
  return { checked, share: (ipv6 ? undefined : flagIn(flags, ofBoth)) ?? checked };
}

/**
 * Number of addresses in a node's share that no pod can have: the addresses of network, node and
 * broadcast.
 */
const reservedInShare = 3;

/** Default of kubelet's field `maxPods`. */
const usualMaxPods = 110;

/**
 * Returns the largest number of pods for which each node has addresses, and at least the number of
 * pods of a control plane, of which most have the address of the node. Returns undefined if the pod
 * network allocates addresses itself.
 */
function getMostPods(of: Pick<Written, "network" | "podNetwork" | "kubernetes">) {
  if (getPodNetworkTraits(of.podNetwork).assignsPodRanges === true) return undefined;
  const used: readonly (keyof typeof families)[] = of.network.ipv6
    ? ["pods", "ipv6.pods"]
    : ["pods"];
  const rooms = used.map((family) => 2 ** (families[family].bits - sharesOf(of, family).share));
  return Math.max(Math.min(...rooms) - reservedInShare, leastPods);
}

/**
 * Returns kubelet's `maxPods` if kubelet's default is more than the number of addresses in a node's
 * share of the pod range. Otherwise returns undefined.
 */
export function getSmallerMaxPods(
  of: Pick<Written, "network" | "podNetwork" | "kubernetes">,
): number | undefined {
  const most = getMostPods(of);
  return most !== undefined && most < usualMaxPods ? most : undefined;
}

/** Reports a number of pods for which a node's share of the pod range has not enough addresses. */
function findMaxPodsConflict(of: Written): z.core.$ZodRawIssue[] {
  const maxPods = Number(of.kubernetes.kubelet["maxPods"] ?? 0);
  const most = getMostPods(of);
  if (most === undefined || !(maxPods > most)) return [];
  return [
    {
      code: "custom",
      path: ["kubernetes", "kubelet", "maxPods"],
      input: maxPods,
      message: `${String(maxPods)} pods are more than the ${String(most)} addresses of a node; write at most ${String(most)}, or in a new cluster a smaller kubernetes.controllerManager.extraArgs.${families.pods.flag}`,
    },
  ];
}

/**
 * Returns the reason why the range does not suffice for the pods of all nodes. Returns undefined if
 * it suffices.
 */
function ofPods(of: Written, range: string, family: keyof typeof families): string | undefined {
  const { podNetwork, nodes } = of;
  const { flag } = families[family];
  const own = getPrefixLength(range);
  const { checked, share } = sharesOf(of, family);
  const longest = Math.min(checked, share);
  if (own > longest)
    return `is less than the /${String(longest)} that each node gets of it; write a larger range`;
  if (checked - own > furthest)
    return `is more than kubeadm shares out by /${String(checked)}; write at most a /${String(checked - furthest)}, or ${flag}`;
  const room = 2 ** (share - own);
  return nodes > room && getPodNetworkTraits(podNetwork).assignsPodRanges !== true
    ? `has a /${String(share)} for ${String(room)} nodes, and ${String(nodes)} are needed; ${instead}`
    : undefined;
}

function ofMachines({ network: { nodes, existing }, ...of }: Written): string | undefined {
  const room = Math.max(0, 2 ** (32 - getPrefixLength(nodes)) - reserved - of.others);
  const less =
    of.others > 0 ? ` in addition to ${String(of.others)} for the API or the ingress` : "";
  return existing === undefined && of.machines > room
    ? `has addresses for ${String(room)} machines${less}, and ${String(of.machines)} are needed; ${instead}`
    : undefined;
}

function ofServicesRange({ network: { services } }: Written): string | undefined {
  const { longest, shortest } = ofServices;
  const own = getPrefixLength(services);
  if (own > longest) return `is less than kubeadm accepts; write at least a /${String(longest)}`;
  return own < shortest
    ? `is more than kubeadm accepts; write at most a /${String(shortest)}`
    : undefined;
}

export function findAddressCapacityConflicts(of: Written): z.core.$ZodRawIssue[] {
  const flags = wrongFlags(of);
  const { nodes, pods, services, ipv6 } = of.network;
  const found: readonly (readonly [string, string, string | undefined])[] = [
    ["nodes", nodes, ofMachines(of)],
    ["services", services, ofServicesRange(of)],
    ...(flags.length > 0
      ? []
      : [
          ["pods", pods, ofPods(of, pods, "pods")] as const,
          ...(ipv6 ? [["ipv6.pods", ipv6.pods, ofPods(of, ipv6.pods, "ipv6.pods")] as const] : []),
        ]),
  ];
  return [
    ...flags,
    ...(flags.length > 0 ? [] : findMaxPodsConflict(of)),
    ...found.flatMap(([path, range, message]) =>
      message === undefined ? [] : [issue(path, range, message)],
    ),
  ];
}
