import type { ImageName } from "../../../base/images.js";
import { rangesOf } from "../../../base/addresses.js";
import type { Ipv6Mode, Ipv6Ranges } from "../ipv6.js";
import type { PodNetworkSpec } from "../pod-network.js";
import { calico } from "./pod-network/calico.js";
import { canal } from "./pod-network/canal.js";
import { cloudRoutes } from "./pod-network/cloud-routes.js";
import { flannel } from "./pod-network/flannel.js";
import { kubeRouter } from "./pod-network/kube-router.js";
import { none } from "./pod-network/none.js";

/** The pod networks that a cluster can have. Each is a file in pod-network/ and a row below; what deploys it is in components/pod-network. */
export const podNetworkKinds = [
  ...(["kube-router", "cloud-routes", "flannel", "calico", "canal", "none"] as const),
] as const;
export type PodNetworkKind = (typeof podNetworkKinds)[number];

/** What has to pass between machines beside what all clusters' machines exchange. */
export interface Passage {
  /** Names the rule; stable. */
  readonly name: string;
  /** Whose addresses the packets have. */
  readonly from: "machines" | "pods" | { readonly range: string };
  /** Absent: every protocol. `4` is IPIP, for which not every cloud has a word. */
  readonly protocol?: "tcp" | "udp" | "4";
  /** First and last port; absent: every port. */
  readonly ports?: readonly [number, number];
  /** Why; kept in the cloud as the rule's description. */
  readonly reason: string;
}

/** A range of the specification's `network`. */
type Range = "pods" | "services";

/**
 * How a packet gets from a pod to one on another machine. Neutron drops what has an address that the sender's port does not
 * allow: either the ports allow the ranges, or packets travel inside those of the machines.
 */
type Path =
  | {
      readonly encapsulation: "none";
      readonly overhead: 0;
      readonly routedRanges: readonly [Range, ...Range[]];
    }
  | {
      readonly encapsulation: "none";
      readonly overhead: 0;
      readonly routedRanges: readonly [];
      readonly routesOfCloud: true;
    }
  | {
      readonly encapsulation: "vxlan" | "ipip" | "fou";
      /** Bytes that it adds to a packet: the pods' MTU is the network's without them. */
      readonly overhead: number;
      /** Of Services, where machines answer for their addresses. */
      readonly routedRanges: readonly "services"[];
    }
  | {
      /** Inside packets of machines only where these are in different subnets. */
      readonly encapsulation: "cross-subnet";
      readonly overhead: number;
      readonly routedRanges: readonly [Range, ...Range[]];
    };

/** What of a pod network, with its options, others depend on. Nothing else asks which one it is. */
export type PodNetworkTraits = Path & {
  /** Images that each machine needs before its pods have addresses. */
  readonly images: readonly ImageName[];
  readonly passages: readonly Passage[];
  /**
   * What it does where the cluster has IPv6 besides: for which of the ways in which machines get their addresses, and what it
   * adds to a packet then; or why it does not, after its name.
   */
  readonly ipv6:
    | { readonly modes: readonly Ipv6Mode[]; readonly overhead: number }
    | { readonly refused: string };
  /** Then kubeadm leaves kube-proxy out, and it reaches the API by its name: from which container. */
  readonly replacesKubeProxy: false | { readonly container: string };
  /** More ranges that the machines' ports allow. @default none */
  readonly moreRanges?: readonly string[];
  /**
   * Whether the cloud controller keeps a route to each node's pods on the router, and what a node's port allows: nobody else
   * may then change that. @default others do not
   */
  readonly routesOfCloud?: true;
  /** Whether it shares the pods' range out by itself, not by what kube-controller-manager gives each node. @default it does not */
  readonly sharesOutRange?: true;
  /** Whether the user deploys it, in their own time. @default the program does, and waits for it */
  readonly broughtAlong?: true;
  /** Modules of the kernel that it needs, beside those that every node needs. */
  readonly kernelModules: readonly string[];
};

/** The options of one kind. */
export type OptionsOf<Kind extends PodNetworkKind> = Extract<PodNetworkSpec, { kind: Kind }>;

/** What is known of a kind before its options are. */
export interface PodNetworkRow<Kind extends PodNetworkKind> {
  /** What it does with the pods' packets, and whether it enforces network policies: for the documentation, after its name. */
  readonly summary: string;
  /** Its own namespace, where its pods need of their machine what no other may have. @default kube-system */
  readonly namespace?: string;
  readonly traits: (options: OptionsOf<Kind>) => PodNetworkTraits;
}

/** A kind without its row here is a type error. */
export const podNetworks: { readonly [Kind in PodNetworkKind]: PodNetworkRow<Kind> } = {
  "kube-router": kubeRouter,
  "cloud-routes": cloudRoutes,
  flannel,
  calico,
  canal,
  none,
};

/** What hints name as another choice: the usual one, and one whose packets need no right on a port. */
export const otherPodNetworks = {
  usual: "kube-router",
  wrapped: "flannel",
} as const satisfies Record<string, PodNetworkKind>;

/** The namespaces that pod networks of the program's have of their own: of all kinds, whichever the cluster has. */
export const podNetworkNamespaces = Object.values<{ readonly namespace?: string }>(
  podNetworks,
).flatMap(({ namespace }) => namespace ?? []);

/** The traits of a pod network as it was specified. */
export const podNetworkTraits = (spec: PodNetworkSpec): PodNetworkTraits =>
  (podNetworks[spec.kind].traits as (options: PodNetworkSpec) => PodNetworkTraits)(spec);

/** Every range that the machines' ports allow. */
export const routedRangesOf = ({
  podNetwork,
  network,
}: {
  readonly podNetwork: PodNetworkSpec;
  readonly network: Ipv6Ranges & { readonly ipv6?: Ipv6Ranges | undefined };
}): readonly string[] => {
  const { routedRanges, moreRanges = [] } = podNetworkTraits(podNetwork);
  return [...routedRanges.flatMap((range) => rangesOf(range, network)), ...moreRanges];
};

/** Bytes that a packet of a pod gets more on its way. */
export const overheadOf = (spec: PodNetworkSpec, withIpv6: boolean): number => {
  const { overhead, ipv6 } = podNetworkTraits(spec);
  return withIpv6 && "overhead" in ipv6 ? ipv6.overhead : overhead;
};

/** Whether routes on the cluster's router lead to the pods, see {@link PodNetworkTraits.routesOfCloud}. */
export const routedByCloud = (spec: PodNetworkSpec): boolean =>
  podNetworkTraits(spec).routesOfCloud === true;
