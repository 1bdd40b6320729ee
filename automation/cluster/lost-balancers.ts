import { z } from "zod";
import type { CloudObject } from "../../cloud/inventory.js";
import { ownershipOf } from "../../cloud/ownership.js";
import { KubernetesApi, readKubeAccess } from "../verify/kubernetes-api.js";
import type { Run } from "./run.js";
import { readClusters } from "./held-clusters.js";

/*
 * A Service that goes gives its load balancer back. One whose Service is gone without that (its finalizer was taken away, etcd was brought
 * back from an older snapshot) is known to no cluster any more, and keeps the network from going.
 */

/**
 * Namespaces and names of the Services that a load balancer is for: it has the name of the first, and tags of those that share it.
 *
 * @see the names in k8s.io/cloud-provider-openstack, pkg/openstack/loadbalancer.go
 */
const servicesOf = ({ name, tags }: CloudObject): string[] =>
  [name, ...tags].flatMap((text) => {
    const [, namespace, service] = /^kube_service_[^_]+_([^_]+)_([^_]+)$/.exec(text) ?? [];
    return namespace === undefined || service === undefined ? [] : [`${namespace}/${service}`];
  });

/**
 * The clusters' own load balancers of which no Service is there. Pure.
 *
 * @param services namespaces and names of all that are, as `namespace/name`
 */
export function withoutService(
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

/** Of a cluster of a release that made no identities: only its own controller knows whose it is. */
const isNamedOnly = (one: CloudObject): boolean =>
  one.name.startsWith("kube_service_") && ownershipOf(one) === undefined;

/** Load balancers that somebody else certainly put into these networks: each keeps its network. Pure. */
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

/** Those among the objects that no Service of the stack's clusters will give back. None where a cluster cannot be asked. */
export async function lostBalancers(
  run: Run,
  objects: readonly CloudObject[],
  identities: ReadonlySet<string>,
): Promise<CloudObject[]> {
  if (ofServices(objects, identities).length === 0) return [];
  try {
    const clusters = await readClusters(run.access);
    const services = await Promise.all(clusters.map(({ kubeconfig }) => servicesAt(kubeconfig)));
    return clusters.length === 0
      ? []
      : withoutService(objects, identities, new Set(services.flat()));
  } catch {
    // The destroy says what is in its way.
    return [];
  }
}
