/** Traits of a pod network that other parts depend on before it is deployed (pure). */
import type { z } from "zod";
import type { ClusterRanges, Ipv6Mode } from "../../base/addresses.js";
import type { ImageName } from "../../base/images.js";
import type { Late } from "../support/kubernetes-types.js";

/**
 * Traffic that a pod network needs between machines, besides what every cluster's machines
 * exchange.
 */
export interface Passage {
  /** Name of the rule; stable. */
  readonly name: string;
  /** Source addresses of the packets. */
  readonly from: "machines" | "pods" | { readonly range: string };
  /** Protocol; absent: every protocol. `4` is IPIP, which not every cloud knows by a name. */
  readonly protocol?: "tcp" | "udp" | "4";
  /** First and last port; absent: every port. */
  readonly ports?: readonly [number, number];
  /** Reason for the rule, which is its description in the cloud. */
  readonly reason: string;
}

type Range = keyof ClusterRanges;

/**
 * Path of a packet to a pod on another machine. Neutron drops packets whose source address the
 * sender's port does not allow: either the ports allow these ranges, or packets are encapsulated in
 * packets of the machines.
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
      /** Bytes that encapsulation adds to a packet. The pods' MTU is the network's minus these. */
      readonly overhead: number;
      /** Range of Services, if machines answer for addresses of Services. */
      readonly routedRanges: readonly "services"[];
    }
  | {
      /** Encapsulates packets only between machines in different subnets. */
      readonly encapsulation: "cross-subnet";
      readonly overhead: number;
      readonly routedRanges: readonly [Range, ...Range[]];
    };

/** Traits of a pod network with its options. No other code asks for its kind. */
export type PodNetworkTraits = Path & {
  /** Images that each machine needs before its pods have addresses. */
  readonly images: readonly ImageName[];
  readonly passages: readonly Passage[];
  /**
   * Support of IPv6: how machines may get their addresses, and the bytes that encapsulation then
   * adds; or the reason why it is refused, as the rest of a sentence that begins with the kind.
   */
  readonly ipv6:
    | { readonly modes: readonly Ipv6Mode[]; readonly overhead: number }
    | { readonly refused: string };
  /** Whether the pod network proxies Services itself; kubeadm then omits kube-proxy. */
  readonly replacesKubeProxy: boolean;
  /** Further ranges that the machines' ports allow. @default none */
  readonly moreRanges?: readonly string[];
  /**
   * Whether the cloud controller sets a route to each node's pods on the router, and the allowed
   * addresses of the node's port. Nothing else may then change these. @default no
   */
  readonly routesOfCloud?: true;
  /** Whether it divides the pod range itself, instead of kube-controller-manager. @default no */
  readonly sharesOutRange?: true;
  /** Whether the user deploys it, at any time. @default no: the program does, and waits for it */
  readonly broughtAlong?: true;
  /** Options that must be secret, each with its path, like `peers[0].password`. @default none */
  readonly secrets?: readonly { readonly path: string; readonly value: Late | undefined }[];
  /** Kernel modules that it needs, besides those of every node. */
  readonly kernelModules: readonly string[];
};

/** Row of a kind: facts about it, known before anything is created. */
export interface PodNetworkRow<Options extends z.ZodType> {
  /** Schema of its options. */
  readonly options: Options;
  /**
   * Text of the documentation, after its name: how it handles pods' packets and network policies.
   */
  readonly summary: string;
  /**
   * Separate namespace, if its pods need more rights on their machine than others. @default
   * kube-system
   */
  readonly namespace?: string;
  readonly traits: (options: z.output<Options>) => PodNetworkTraits;
}
