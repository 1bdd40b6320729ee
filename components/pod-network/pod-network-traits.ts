/**
 * Traits of a pod network: facts that other parts of the program need before the pod network is
 * deployed (pure functions).
 */
import type { z } from "zod";
import type { PodAndServiceRanges, Ipv6AddressMode } from "../../base/ip-addresses.js";
import type { AddonImageName } from "../../base/versions/container-images.js";
import type { StringInput } from "../kubernetes-objects/kubernetes-types.js";

/**
 * Traffic between machines that a pod network needs, in addition to the traffic of every cluster.
 */
export interface PodNetworkTraffic {
  /**
   * Part of the names of the firewall rules. The name must not change, because a changed name would
   * replace the rules.
   */
  readonly name: string;
  /** Senders of the packets. */
  readonly from: "machines" | "pods" | { readonly range: string };
  /**
   * Protocol of the packets. The number `4` means IPIP. Some clouds do not know a name for IPIP.
   * @default every protocol
   */
  readonly protocol?: "tcp" | "udp" | "4";
  /** First and last port. @default every port */
  readonly ports?: readonly [number, number];
  /** Reason for the rule. Neutron stores it as the description. */
  readonly reason: string;
}

type Range = keyof PodAndServiceRanges;

/**
 * Path of a packet to a pod on another machine. Neutron drops a packet whose source address is not
 * allowed on the sender's port. Therefore ports allow the addresses in `routedRanges`, or machines
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
       * Number of bytes that encapsulation adds to a packet. The MTU of pods is smaller than the
       * MTU of the network by this number.
       */
      readonly overhead: number;
      /** CIDR of Services, if machines send packets with addresses of Services. */
      readonly routedRanges: readonly "services"[];
    }
  | {
      /** Encapsulation of packets only between machines in different subnets. */
      readonly encapsulation: "cross-subnet";
      readonly overhead: number;
      readonly routedRanges: readonly [Range, ...Range[]];
    };

/**
 * Traits of a pod network with its options. All other code uses these traits instead of the `kind`.
 */
export type PodNetworkTraits = Path & {
  /** Images that a machine needs before its pods can get addresses. */
  readonly images: readonly AddonImageName[];
  readonly passages: readonly PodNetworkTraffic[];
  /**
   * Support of IPv6. `modes` are the allowed values of `network.ipv6.mode`. `overhead` is the
   * number of bytes that encapsulation adds to a packet in a dual-stack cluster. `refused` is the
   * reason why IPv6 is not supported; it completes a sentence that begins with the kind.
   */
  readonly ipv6:
    | { readonly modes: readonly Ipv6AddressMode[]; readonly overhead: number }
    | { readonly refused: string };
  /** Whether the pod network handles Services itself. kubeadm then does not install kube-proxy. */
  readonly replacesKubeProxy: boolean;
  /**
   * Whether the pod network saves whole tables of iptables and restores them. A restore deletes
   * rules that kube-proxy has written since the save, so kube-proxy must not use iptables.
   * @default false
   */
  readonly restoresTables?: true;
  /** Further CIDRs from which the machines' ports may send packets. @default none */
  readonly moreRanges?: readonly string[];
  /**
   * Whether the cloud controller sets a route to each node's pods on the router, and the allowed
   * address pairs on the node's port. The program must then not change routes and address pairs.
   * @default false
   */
  readonly routesOfCloud?: true;
  /**
   * Whether the pod network assigns a part of the pod CIDR to each node. Otherwise
   * kube-controller-manager assigns these parts.
   * @default false
   */
  readonly assignsPodRanges?: true;
  /**
   * Kubernetes objects that contain the pod ranges of nodes: the name of their resource, and a
   * go-template of kubectl that prints a line "NODE RANGE" for each range.
   * @default the field `podCIDR` of nodes
   */
  readonly podRangeObjects?: { readonly resource: string; readonly template: string };
  /**
   * Whether the user deploys the pod network, at a time that the program does not know.
   * @default the program deploys the pod network and waits for it
   */
  readonly deployedByUser?: true;
  /** Options that must be secret, with their paths, such as `peers[0].password`. @default none */
  readonly secrets?: readonly { readonly path: string; readonly value: StringInput | undefined }[];
  /** Kernel modules that the pod network needs, in addition to the modules of every node. */
  readonly kernelModules: readonly string[];
};

/** Row in the table of pod networks (pod-network-kinds.ts). */
export interface PodNetworkRow<Options extends z.ZodType> {
  /** Schema of the options. */
  readonly options: Options;
  /**
   * Text after the kind in the documentation: how the pod network treats packets of pods and
   * network policies.
   */
  readonly summary: string;
  /**
   * Namespace that only the pod network uses. Pods of the pod network need rights on their machine
   * that the Pod Security level of other namespaces may deny.
   * @default kube-system
   */
  readonly namespace?: string;
  readonly traits: (options: z.output<Options>) => PodNetworkTraits;
}
