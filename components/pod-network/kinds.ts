import type { ImageName } from "../../base/images.js";
import { flannel } from "./flannel/traits.js";
import { kubeRouter } from "./kube-router/traits.js";

/** The pod networks that a cluster can have. Each is a folder here, a row below and one in pod-network.ts. */
export const podNetworkKinds = ["kube-router", "flannel"] as const;
export type PodNetworkKind = (typeof podNetworkKinds)[number];

/** What has to pass between machines beside what all clusters' machines exchange. */
export interface Passage {
  /** Names the rule; stable. */
  readonly name: string;
  /** Whose addresses the packets have. */
  readonly from: "machines" | "pods";
  /** Absent: every protocol. */
  readonly protocol?: "tcp" | "udp";
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
      readonly encapsulation: "vxlan";
      /** Bytes that it adds to a packet: the pods' MTU is the network's without them. */
      readonly overhead: number;
      readonly routedRanges: readonly [];
    };

/** What of a pod network others depend on. Nothing else asks which one it is. */
export type PodNetworkTraits = Path & {
  /** What it does with the pods' packets, and whether it enforces network policies: for the documentation, after its name. */
  readonly summary: string;
  /** Images that each machine needs before its pods have addresses. */
  readonly images: readonly ImageName[];
  readonly passages: readonly Passage[];
  /** None here does; one that does has to make kubeadm leave kube-proxy out. */
  readonly replacesKubeProxy: false;
  /** Modules of the kernel that it needs, beside those that every node needs. */
  readonly kernelModules: readonly string[];
};

/** A kind without its row here is a type error. */
export const podNetworks: Readonly<Record<PodNetworkKind, PodNetworkTraits>> = {
  "kube-router": kubeRouter,
  flannel,
};
