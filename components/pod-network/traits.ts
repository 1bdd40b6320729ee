/** What of a pod network others depend on, before there is one (pure). */
import type { z } from "zod";
import type { ClusterRanges, Ipv6Mode } from "../../base/addresses.js";
import type { ImageName } from "../../base/images.js";
import type { Late } from "../support/kubernetes-types.js";

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

type Range = keyof ClusterRanges;

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
  /** True where the pod network proxies Services itself; kubeadm then leaves kube-proxy out. */
  readonly replacesKubeProxy: boolean;
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
  /** What of its options must not lie open, each where it is written: `peers[0].password`. @default nothing */
  readonly secrets?: readonly { readonly path: string; readonly value: Late | undefined }[];
  /** Modules of the kernel that it needs, beside those that every node needs. */
  readonly kernelModules: readonly string[];
};

/** A kind: what its folder says of it before anything is made. */
export interface PodNetworkRow<Options extends z.ZodType> {
  /** What is written of it. */
  readonly options: Options;
  /** What it does with the pods' packets, and whether it enforces network policies: for the documentation, after its name. */
  readonly summary: string;
  /** Its own namespace, where its pods need of their machine what no other may have. @default kube-system */
  readonly namespace?: string;
  readonly traits: (options: z.output<Options>) => PodNetworkTraits;
}
