import { z } from "zod";
import type { CloudObject } from "../../openstack/inventory/inventory.js";
import { getOwnership } from "../../openstack/inventory/ownership.js";
import { KubernetesApi, readKubeAccess } from "../verify/kubernetes-client.js";
import type { StackOperation } from "../engine/operation-context.js";
import { readClustersInState } from "../engine/kubernetes-providers.js";

/*
 * Finds load balancers whose Services no longer exist. Normally the cloud controller deletes the
 * load balancer together with its Service. After the removal of a finalizer, or a restore of etcd
 * from an older snapshot, the load balancer remains without its Service. No controller then deletes
 * the load balancer, and the load balancer blocks the deletion of its network.
 */

/**
 * Returns the Services of a load balancer, as `namespace/name`. The name of the load balancer
 * contains its first Service. Its tags contain all Services that share the load balancer.
 *
 * @see the names in k8s.io/cloud-provider-openstack, pkg/openstack/loadbalancer.go
 */
const servicesOf = ({ name, tags }: CloudObject): string[] =>
  [name, ...tags].flatMap((text) => {
    const [, namespace, service] = /^kube_service_[^_]+_([^_]+)_([^_]+)$/.exec(text) ?? [];
    return namespace === undefined || service === undefined ? [] : [`${namespace}/${service}`];
  });

/**
 * Returns the clusters' load balancers for which no Service exists. Pure.
 *
 * @param services all existing Services, as `namespace/name`
 */
export function findBalancersWithoutService(
  objects: readonly CloudObject[],
  identities: ReadonlySet<string>,
  services: ReadonlySet<string>,
): CloudObject[] {
  return ofServices(objects, identities).filter(
    (one) => !servicesOf(one).some((service) => services.has(service)),
  );
}

export const isServiceBalancer = (one: CloudObject): boolean =>
  getOwnership(one)?.claim === "load balancer of a Service";

const isMarked = (one: CloudObject, identities: ReadonlySet<string>): boolean =>
  identities.has(getOwnership(one)?.mark.identity ?? "");

const ofServices = (
  objects: readonly CloudObject[],
  identities: ReadonlySet<string>,
): CloudObject[] => objects.filter((one) => isServiceBalancer(one) && isMarked(one, identities));

/**
 * Returns whether the load balancer of a Service has a name without an identity, as in earlier
 * releases. Only the cloud controller that created such a load balancer knows its cluster.
 */
const isNamedOnly = (one: CloudObject): boolean =>
  one.name.startsWith("kube_service_") && getOwnership(one) === undefined;

/**
 * Returns the load balancers in these networks that certainly do not belong to the stack's
 * clusters. Such load balancers block the deletion of the networks. Pure.
 */
export const findForeignBalancers = (
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
export async function findBalancersOfDeletedServices(
  run: StackOperation,
  objects: readonly CloudObject[],
  identities: ReadonlySet<string>,
): Promise<CloudObject[]> {
  if (ofServices(objects, identities).length === 0) return [];
  try {
    const clusters = await readClustersInState(run.access);
    const services = await Promise.all(clusters.map(({ kubeconfig }) => servicesAt(kubeconfig)));
    return clusters.length === 0
      ? []
      : findBalancersWithoutService(objects, identities, new Set(services.flat()));
  } catch {
    // Without the list of Services, no load balancer is deleted here. The destroy later reports
    // load balancers that block the deletion of networks.
    return [];
  }
}
