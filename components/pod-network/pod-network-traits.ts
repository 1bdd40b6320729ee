/** Facts about a pod network that other parts of the program need before its deployment (pure). */
import type { z } from "zod";
import type { ClusterRanges, Ipv6Mode } from "../../base/ip-addresses.js";
import type { ImageName } from "../../base/versions/container-images.js";
import type { StringInput } from "../kubernetes-objects/kubernetes-types.js";

/**
 * Traffic that a pod network needs between machines, in addition to the traffic of every cluster.
 */
export interface PodNetworkTraffic {
  /** Part of the name of the firewall rules. Must not change, or the rules are replaced. */
  readonly name: string;
  /** Source addresses of the packets. */
  readonly from: "machines" | "pods" | { readonly range: string };
  /** Protocol; absent: every protocol. `4` is IPIP, which not every cloud knows by a name. */
  readonly protocol?: "tcp" | "udp" | "4";
  /** First and last port; absent: every port. */
  readonly ports?: readonly [number, number];
  /** Reason for the rule, which Neutron stores as the description. */
  readonly reason: string;
}

type Range = keyof ClusterRanges;

/**
 * Path of a packet to a pod on another machine. Neutron drops packets whose source address the port
 * of the sender does not allow. So either ports allow the addresses in `routedRanges`, or machines
 * encapsulate the packets of pods in packets with their own addresses.
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
      /**
       * Bytes that encapsulation adds to a packet. The MTU of pods is the network's MTU minus these
       * bytes.
       */
      readonly overhead: number;
      /** Range of Services, if machines send packets with addresses of Services. */
      readonly routedRanges: readonly "services"[];
    }
  | {
      /** Encapsulates packets only between machines in different subnets. */
      readonly encapsulation: "cross-subnet";
      readonly overhead: number;
      readonly routedRanges: readonly [Range, ...Range[]];
    };

/**
 * Facts about a pod network with its options. All other code uses these facts instead of the
 * `kind`.
 */
export type PodNetworkTraits = Path & {
  /** Images that a machine needs before its pods have addresses. */
  readonly images: readonly ImageName[];
  readonly passages: readonly PodNetworkTraffic[];
  /**
   * Support of IPv6: the allowed values of `network.ipv6.mode`, and the bytes that encapsulation
   * adds to a packet in a dual-stack cluster. Or the reason to refuse IPv6, as the rest of a
   * sentence that begins with the kind.
   */
  readonly ipv6:
    | { readonly modes: readonly Ipv6Mode[]; readonly overhead: number }
    | { readonly refused: string };
  /** Whether the pod network proxies Services itself; kubeadm then omits kube-proxy. */
  readonly replacesKubeProxy: boolean;
  /** Further ranges from which the machines' ports may send. @default none */
  readonly moreRanges?: readonly string[];
  /**
   * Whether the cloud controller sets a route to each node's pods on the router, and the allowed
   * address pairs of the node's port. The program then must not change routes and pairs.
   * @default no
   */
  readonly routesOfCloud?: true;
  /**
   * Whether the pod network itself divides the pod range among nodes, instead of
   * kube-controller-manager.
   * @default no
   */
  readonly sharesOutRange?: true;
  /**
   * Whether the user deploys the pod network, at any time.
   * @default the program deploys the pod network and waits for it
   */
  readonly broughtAlong?: true;
  /** Options that must be secret, each with its path, like `peers[0].password`. @default none */
  readonly secrets?: readonly { readonly path: string; readonly value: StringInput | undefined }[];
  /** Kernel modules that the pod network needs, in addition to the modules of every node. */
  readonly kernelModules: readonly string[];
};

/** Row of the table of pod networks (pod-network-kinds.ts). */
export interface PodNetworkRow<Options extends z.ZodType> {
  /** Schema of the options. */
  readonly options: Options;
  /**
   * Text that follows the kind in the documentation: how the pod network handles packets of pods
   * and network policies.
   */
  readonly summary: string;
  /**
   * Separate namespace of the pod network. Pods there get rights on their machine that the Pod
   * Security level of other namespaces may deny.
   * @default kube-system
   */
  readonly namespace?: string;
  readonly traits: (options: z.output<Options>) => PodNetworkTraits;
}
