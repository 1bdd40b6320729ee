import { z } from "zod";
import type { CloudObject } from "../../openstack/inventory/inventory.js";
import { ownershipOf } from "../../openstack/inventory/ownership.js";
import { KubernetesApi, readKubeAccess } from "../verify/kubernetes-client.js";
import type { StackOperation } from "../engine/operation-context.js";
import { readClusters } from "../engine/cluster-providers.js";

/*
 * The cloud controller deletes the load balancer of a Service together with the Service. If the
 * Service disappeared in another way (removed finalizer, or etcd restored from an older snapshot),
 * no controller deletes the load balancer, which then blocks the deletion of its network.
 */

/**
 * Returns the Services (`namespace/name`) of a load balancer. Its name contains the first Service,
 * its tags contain all Services that share it.
 *
 * @see the names in k8s.io/cloud-provider-openstack, pkg/openstack/loadbalancer.go
 */
const servicesOf = ({ name, tags }: CloudObject): string[] =>
  [name, ...tags].flatMap((text) => {
    const [, namespace, service] = /^kube_service_[^_]+_([^_]+)_([^_]+)$/.exec(text) ?? [];
    return namespace === undefined || service === undefined ? [] : [`${namespace}/${service}`];
  });

/**
 * Returns the clusters' load balancers of which no Service exists any more. Pure.
 *
 * @param services all existing Services, as `namespace/name`
 */
export function balancersWithoutService(
  objects: readonly CloudObject[],
  identities: ReadonlySet<string>,
  services: ReadonlySet<string>,
): CloudObject[] {
  return ofServices(objects, identities).filter(
    (one) => !servicesOf(one).some((service) => services.has(service)),
  );
}

export const isOfService = (one: CloudObject): boolean =>
  ownershipOf(one)?.claim === "load balancer of a Service";

const isMarked = (one: CloudObject, identities: ReadonlySet<string>): boolean =>
  identities.has(ownershipOf(one)?.mark.identity ?? "");

const ofServices = (
  objects: readonly CloudObject[],
  identities: ReadonlySet<string>,
): CloudObject[] => objects.filter((one) => isOfService(one) && isMarked(one, identities));

/**
 * Returns whether a Service's load balancer has a name without an identity, as in earlier releases.
 * Then only the controller of its cluster knows its owner.
 */
const isNamedOnly = (one: CloudObject): boolean =>
  one.name.startsWith("kube_service_") && ownershipOf(one) === undefined;

/**
 * Returns the load balancers in these networks that certainly do not belong to the stack's
 * clusters. Such load balancers block the deletion of the networks. Pure.
 */
export const foreignBalancers = (
  objects: readonly CloudObject[],
  {
    networks,
    ours,
    identities,
  }: Readonly<Record<"networks" | "ours" | "identities", ReadonlySet<string>>>,
): CloudObject[] =>
  objects.filter(
    (one) =>
      one.kind === "load balancer" &&
      networks.has(one.network) &&
      !ours.has(one.id) &&
      !isNamedOnly(one) &&
      !isMarked(one, identities),
  );

const listed = z.looseObject({
  items: z.array(
    z.looseObject({ metadata: z.looseObject({ namespace: z.string(), name: z.string() }) }),
  ),
});

async function servicesAt(kubeconfig: string): Promise<string[]> {
  const api = new KubernetesApi(readKubeAccess(kubeconfig));
  const { items } = listed.parse(await api.get("/api/v1/services"));
  return items.map(({ metadata: { namespace, name } }) => `${namespace}/${name}`);
}

/**
 * Returns the clusters' load balancers whose Services no longer exist. Returns none if the API of a
 * cluster does not answer.
 */
export async function balancersOfDeletedServices(
  run: StackOperation,
  objects: readonly CloudObject[],
  identities: ReadonlySet<string>,
): Promise<CloudObject[]> {
  if (ofServices(objects, identities).length === 0) return [];
  try {
    const clusters = await readClusters(run.access);
    const services = await Promise.all(clusters.map(({ kubeconfig }) => servicesAt(kubeconfig)));
    return clusters.length === 0
      ? []
      : balancersWithoutService(objects, identities, new Set(services.flat()));
  } catch {
    // The destroy reports later what blocks the deletion of the networks.
    return [];
  }
}
