/**
 * Pod networks that a cluster can have, each with a folder and a row (pure). pod-network.ts deploys
 * them.
 */
import type { z } from "zod";
import { rangesOf, type ClusterRanges } from "../../base/addresses.js";
import { calico } from "./calico/traits.js";
import { canal } from "./canal/traits.js";
import { cloudRoutes } from "./cloud-routes/traits.js";
import { flannel } from "./flannel/traits.js";
import { kubeRouter } from "./kube-router/traits.js";
import { none } from "./none/traits.js";
import type { PodNetworkTraits } from "./traits.js";

/** Pod networks by `kind` in a specification, in the order of the documentation. */
export const podNetworks = {
  "kube-router": kubeRouter,
  "cloud-routes": cloudRoutes,
  flannel,
  calico,
  canal,
  none,
} as const;

type Rows = typeof podNetworks;
export type PodNetworkKind = keyof Rows;
export const podNetworkKinds = Object.keys(podNetworks) as readonly PodNetworkKind[];

/** Options of one kind, or of any of several, with all defaults. */
export type OptionsOf<Kind extends PodNetworkKind> = z.output<Rows[Kind]["options"]>;

/** Specification of a pod network, with all defaults. */
export type PodNetworkSpec = OptionsOf<PodNetworkKind>;

/** Kinds that hints suggest: the default, and one that needs no permission at ports. */
export const otherPodNetworks = {
  usual: "kube-router",
  wrapped: "flannel",
} as const satisfies Record<string, PodNetworkKind>;

/** Separate namespaces of all kinds, whichever the cluster has. */
export const podNetworkNamespaces = Object.values<{ readonly namespace?: string }>(
  podNetworks,
).flatMap(({ namespace }) => namespace ?? []);

/** Returns the traits of a specified pod network. */
export const podNetworkTraits = (spec: PodNetworkSpec): PodNetworkTraits =>
  (podNetworks[spec.kind].traits as (options: PodNetworkSpec) => PodNetworkTraits)(spec);

/** Returns every range that the machines' ports allow. */
export const routedRangesOf = ({
  podNetwork,
  network,
}: {
  readonly podNetwork: PodNetworkSpec;
  readonly network: ClusterRanges & { readonly ipv6?: ClusterRanges | undefined };
}): readonly string[] => {
  const { routedRanges, moreRanges = [] } = podNetworkTraits(podNetwork);
  return [...routedRanges.flatMap((range) => rangesOf(range, network)), ...moreRanges];
};

/** Returns the bytes that encapsulation adds to a packet of a pod. */
export const overheadOf = (spec: PodNetworkSpec, withIpv6: boolean): number => {
  const { overhead, ipv6 } = podNetworkTraits(spec);
  return withIpv6 && "overhead" in ipv6 ? ipv6.overhead : overhead;
};

/**
 * Returns {@link PodNetworkTraits.routesOfCloud}: routes on the cluster's router lead to the pods.
 */
export const routedByCloud = (spec: PodNetworkSpec): boolean =>
  podNetworkTraits(spec).routesOfCloud === true;
