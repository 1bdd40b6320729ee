/** Derives the arguments of the add-ons from the cluster specification. */
import type * as pulumi from "@pulumi/pulumi";
import { getCloudConfSettings } from "./cloud-conf.js";
import { getMetricsServerSettings } from "./manifests/metrics-server.js";
import type { ClusterSpec } from "../config/cluster-spec.js";
import { orderUserAddons } from "../config/kubernetes/user-addons.js";
import { listServiceClientRanges } from "../config/load-balancing/endpoint-traits.js";
import type { SampleServices } from "../config/load-balancing/sample-services.js";
import { serviceAnnotationKeys } from "../config/load-balancing/service-annotations.js";
import type { KubeadmInitResult } from "../kubeadm/kubeadm-init-result.js";
import type { Network } from "../network/network.js";
import { mapResolved, resolvePlaceholders } from "../pulumi/placeholders.js";
import { planCluster } from "../plan/cluster-plan.js";
import { roleTable } from "../config/roles.js";
import { countAttachableVolumes } from "../plan/volumes.js";
import { isRoutedByCloud } from "../pod-network/pod-network-kinds.js";
import type { CloudLogin } from "../identity/cloud-login.js";
import type { CloudFacts } from "../lookup/cloud-lookup.js";
import type { CloudObjects } from "../lookup/cloud-objects.js";
import type { LocalContext } from "../lookup/local-context.js";
import type { CloudAccess } from "./cloud-config-secret.js";

/**
 * Returns those arguments of {@link Addons} that the specification determines.
 *
 * @param webhook key and certificate of the Keystone webhook. Default: none
 * @param balancer address of the load balancer in front of the ingress controller's machines.
 *   Default: none
 */
export const getAddonArguments = (
  spec: ClusterSpec,
  { webhook }: Pick<KubeadmInitResult, "webhook"> = {},
  balancer?: pulumi.Output<string>,
) => ({
  clusterName: spec.name,
  kubernetesVersion: spec.kubernetes.version,
  registry: spec.kubernetes.registry,
  ownImages: spec.kubernetes.images,
  podNetwork: spec.podNetwork,
  apiName: spec.apiName,
  podCidr: spec.network.pods,
  serviceCidr: spec.network.services,
  ipv6: spec.network.ipv6,
  cloudController: spec.cloudController.enabled,
  blockStorage: { ...spec.blockStorage, attachable: attachableIn(spec) },
  storageClasses: spec.storageClasses,
  nodes: nodesIn(spec),
  metricsServer: getMetricsServerSettings(spec),
  ...(webhook && { keystone: { ...spec.kubernetes.keystone, webhook } }),
  ingress: spec.ingress && {
    spec: ofIngress(spec.ingress, spec),
    taints: taintsOf(spec),
    address: balancer,
  },
  controlPlaneTaints: spec.controlPlane.taints,
  serviceClientRanges: mapResolved(spec.serviceCidrs, (serviceCidrs) =>
    listServiceClientRanges({ ...spec, serviceCidrs }),
  ),
  samples: spec.samples,
  sampleServices: withAddress(withoutTls(spec.sampleServices, spec)),
  userAddons: orderUserAddons(spec),
});

/**
 * Returns the settings with an empty certificate annotation if `defaultTlsContainerRef` sets a
 * certificate for all load balancers. With the empty annotation, the load balancer of the Service
 * does not terminate TLS. Traefik terminates TLS itself, and the samples use HTTP. An annotation of
 * the user takes precedence.
 */
const withoutTls = <Of extends Pick<SampleServices, "annotations">>(
  of: Of,
  { loadBalancer }: Pick<ClusterSpec, "loadBalancer">,
): Of =>
  loadBalancer.defaultTlsContainerRef === undefined
    ? of
    : { ...of, annotations: { [serviceAnnotationKeys.certificate]: "", ...of.annotations } };

/** Returns the settings, with an output in the place of an address that is not known yet. */
const withAddress = <Of extends { readonly address?: string | undefined }>({
  address,
  ...of
}: Of) => ({
  ...of,
  address: address === undefined ? undefined : resolvePlaceholders(address),
});

const ofIngress = (
  ingress: NonNullable<ClusterSpec["ingress"]>,
  spec: Pick<ClusterSpec, "loadBalancer">,
) => (ingress.kind === "service" ? withAddress(withoutTls(ingress, spec)) : ingress);

/**
 * Returns how many volumes of persistent volume claims each node can attach. Considers only
 * machines that are nodes.
 */
const attachableIn = (spec: ClusterSpec): number =>
  countAttachableVolumes(
    planCluster(spec).groups.flatMap(({ machines }) => machines),
    spec.network.admin ? 2 : 1,
  );

const nodesIn = (spec: ClusterSpec): number =>
  planCluster(spec).groups.reduce(
    (all, { role, machines }) => all + (roleTable[role].node ? machines.length : 0),
    0,
  );

/**
 * Returns the taints of the worker pool that runs the ingress controller, or undefined if no pool
 * runs it.
 */
const taintsOf = ({ ingress, workers }: Pick<ClusterSpec, "ingress" | "workers">) =>
  ingress?.kind === "workers" ? workers[ingress.pool]?.taints : undefined;

type Place = "subnetId" | "networkId" | "floatingNetworkId" | "machines";

/**
 * Returns the network in which Octavia creates the load balancers of Services. If this network is
 * separate from the machines' network, also returns the machines' network.
 */
const placeOf = (
  { externalNetwork }: Pick<ClusterSpec, "externalNetwork">,
  objects: CloudObjects,
  { subnetId, networkId, ofServices }: Network,
): Pick<CloudAccess, Place> => {
  const machines = {
    subnetId,
    networkId,
    ...(externalNetwork !== undefined && { floatingNetworkId: objects.externalNetwork.id }),
  };
  if (!ofServices) return machines;
  return {
    subnetId: ofServices.routedSubnetId,
    networkId: ofServices.networkId,
    floatingNetworkId: objects.servicesExternalNetwork.id,
    machines,
  };
};

/** Returns the facts about the OpenStack cloud that the cluster's controllers need. */
export const getCloudAccess = (
  spec: ClusterSpec,
  cloud: pulumi.Output<CloudFacts>,
  given: {
    readonly objects: CloudObjects;
    readonly network: Network;
    readonly login: pulumi.Output<CloudLogin>;
    readonly operator: LocalContext | undefined;
  },
): CloudAccess => ({
  authUrl: cloud.scope.authUrl,
  region: cloud.scope.region,
  login: given.login,
  ...placeOf(spec, given.objects, given.network),
  ...(isRoutedByCloud(spec.podNetwork) && { routerId: given.network.routerId }),
  loadBalancerProvider: spec.loadBalancer.provider,
  caCertificate: given.operator?.caCertificate,
  clientCertificate: given.operator?.clientCertificate,
  settings: getCloudConfSettings(spec),
});
