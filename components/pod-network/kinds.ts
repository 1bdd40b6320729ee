/** The pod networks that a cluster can have: a folder each, and a row (pure). What deploys them is in pod-network.ts. */
import type { z } from "zod";
import { rangesOf, type ClusterRanges } from "../../base/addresses.js";
import { calico } from "./calico/traits.js";
import { canal } from "./canal/traits.js";
import { cloudRoutes } from "./cloud-routes/traits.js";
import { flannel } from "./flannel/traits.js";
import { kubeRouter } from "./kube-router/traits.js";
import { none } from "./none/traits.js";
import type { PodNetworkTraits } from "./traits.js";

/** By the word that a specification has for it, in the order of the documentation. */
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

/** The options of one kind, or of any of several, with every default filled in. */
export type OptionsOf<Kind extends PodNetworkKind> = z.output<Rows[Kind]["options"]>;

/** A pod network with every default filled in. */
export type PodNetworkSpec = OptionsOf<PodNetworkKind>;

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
  readonly network: ClusterRanges & { readonly ipv6?: ClusterRanges | undefined };
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
