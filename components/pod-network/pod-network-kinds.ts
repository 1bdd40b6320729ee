/**
 * Table of the pod networks that a cluster can have (pure functions). Each pod network has a folder
 * here. pod-network.ts deploys the pod network of a cluster.
 */
import type { z } from "zod";
import { listClusterRanges, type PodAndServiceRanges } from "../../base/ip-addresses.js";
import { calicoRow } from "./calico/traits.js";
import { canalRow } from "./canal/traits.js";
import { cloudRoutesRow } from "./cloud-routes/traits.js";
import { flannelRow } from "./flannel/traits.js";
import { kubeRouterRow } from "./kube-router/traits.js";
import { noneRow } from "./none/traits.js";
import type { PodNetworkTraits } from "./pod-network-traits.js";

/** Pod networks by `kind` in the specification, in the order of the documentation. */
export const podNetworkTable = {
  "kube-router": kubeRouterRow,
  "cloud-routes": cloudRoutesRow,
  flannel: flannelRow,
  calico: calicoRow,
  canal: canalRow,
  none: noneRow,
} as const;

type Rows = typeof podNetworkTable;
export type PodNetworkKind = keyof Rows;
export const podNetworkKinds = Object.keys(podNetworkTable) as readonly PodNetworkKind[];

/**
 * Options of a pod network, including default values. For several kinds, this is the union of their
 * options.
 */
export type PodNetworkOptionsOf<Kind extends PodNetworkKind> = z.output<Rows[Kind]["options"]>;

/** Specification of a pod network, including default values. */
export type PodNetworkSpec = PodNetworkOptionsOf<PodNetworkKind>;

/**
 * Pod networks that error messages suggest: `usual` is the default, and `wrapped` needs no allowed
 * address pairs on the machines' ports.
 */
export const suggestedPodNetworks = {
  usual: "kube-router",
  wrapped: "flannel",
} as const satisfies Record<string, PodNetworkKind>;

/**
 * Namespaces of all pod networks that have a separate namespace. The list does not depend on the
 * pod network of the cluster.
 */
export const podNetworkNamespaces = Object.values<{ readonly namespace?: string }>(
  podNetworkTable,
).flatMap(({ namespace }) => namespace ?? []);

/** Returns the traits of a pod network with the given options. See {@link PodNetworkTraits}. */
export const getPodNetworkTraits = (spec: PodNetworkSpec): PodNetworkTraits =>
  (podNetworkTable[spec.kind].traits as (options: PodNetworkSpec) => PodNetworkTraits)(spec);

/**
 * Returns the CIDRs of source addresses that the machines' ports must allow (allowed address
 * pairs).
 */
export const getAddressPairRanges = ({
  podNetwork,
  network,
}: {
  readonly podNetwork: PodNetworkSpec;
  readonly network: PodAndServiceRanges & { readonly ipv6?: PodAndServiceRanges | undefined };
}): readonly string[] => {
  const { routedRanges, moreRanges = [] } = getPodNetworkTraits(podNetwork);
  return [...routedRanges.flatMap((range) => listClusterRanges(range, network)), ...moreRanges];
};

/** Returns how many bytes encapsulation adds to a packet of a pod. */
export const getEncapsulationOverhead = (spec: PodNetworkSpec, withIpv6: boolean): number => {
  const { overhead, ipv6 } = getPodNetworkTraits(spec);
  return withIpv6 && "overhead" in ipv6 ? ipv6.overhead : overhead;
};

/** Returns whether the cloud controller sets routes to pods on the cluster's router. */
export const isRoutedByCloud = (spec: PodNetworkSpec): boolean =>
  getPodNetworkTraits(spec).routesOfCloud === true;

/** Kinds of the pod networks that the program deploys. */
export type DeployedPodNetworkKind = Exclude<PodNetworkKind, "none">;

/** Returns whether the program, and not the user, deploys the pod network. */
export const isDeployedByProgram = (
  spec: PodNetworkSpec,
): spec is PodNetworkOptionsOf<DeployedPodNetworkKind> => spec.kind !== "none";
