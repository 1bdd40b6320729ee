/**
 * Collects the Octavia providers, flavors and zones in a specification. A check then asks Octavia
 * whether these providers, flavors and zones exist.
 */
import type {
  BalancerPart,
  OctaviaRequirements,
} from "../../openstack/checks/cluster-requirements.js";
import type { ClusterSpec } from "../config/cluster-spec.js";
import { ingressPorts } from "../config/load-balancing/ingress-traits.js";
import { serviceAnnotationKeys } from "../config/load-balancing/service-annotations.js";
import type { ClusterPlan } from "./cluster-plan.js";

/**
 * Argument for which one or several load balancers are created, with its path in the specification.
 */
interface Place {
  readonly path: string;
  /** Flavor and zone of the load balancers, each with the name of its option. */
  readonly flavor: Choice;
  readonly zone: Choice;
}
type Choice = readonly [key: string, value: string | undefined];

/** Returns whether the cloud controller creates load balancers for Services. */
export const hasServiceLoadBalancers = ({
  loadBalancer,
  cloudController,
}: Pick<ClusterSpec, "loadBalancer" | "cloudController">): boolean =>
  loadBalancer.enabled !== false && cloudController.enabled !== false;

/** Returns the arguments for which the program itself creates load balancers. */
const ownPlaces = ({ endpoint, ingress }: ClusterSpec): Place[] => [
  ...(endpoint.kind === "load-balancer" ? [ownPlace("endpoint", endpoint)] : []),
  ...(ingress?.kind === "workers" ? [ownPlace("ingress", ingress)] : []),
];

const ownPlace = (
  path: string,
  of: { readonly flavorId?: string | undefined; readonly zone?: string | undefined },
): Place => ({ path, flavor: ["flavorId", of.flavorId], zone: ["zone", of.zone] });

/** Returns the arguments for which the cloud controller creates load balancers. */
function placesOfServices(spec: ClusterSpec): Place[] {
  if (!hasServiceLoadBalancers(spec)) return [];
  const { loadBalancer, ingress, samples, sampleServices } = spec;
  const { flavorId, availabilityZone } = loadBalancer;
  return [
    {
      path: "loadBalancer",
      flavor: ["flavorId", flavorId],
      zone: ["availabilityZone", availabilityZone],
    },
    ...(ingress?.kind === "service" ? [annotatedPlace("ingress", ingress.annotations)] : []),
    ...(samples ? [annotatedPlace("sampleServices", sampleServices.annotations)] : []),
  ];
}

const annotatedPlace = (
  path: string,
  annotations: Readonly<Record<string, string>> = {},
): Place => {
  const { flavor, zone } = serviceAnnotationKeys;
  return {
    path: `${path}.annotations`,
    flavor: [flavor, annotations[flavor]],
    zone: [zone, annotations[zone]],
  };
};

/**
 * Returns the Octavia providers in use. Keys: the paths of their arguments. All load balancers have
 * the same provider, except the API's load balancer, which may have another provider.
 */
function providersOf(spec: ClusterSpec): Record<string, string> {
  const { endpoint, ingress, loadBalancer } = spec;
  const api = endpoint.kind === "load-balancer" ? endpoint.provider : undefined;
  const all = loadBalancer.provider;
  const used = ingress?.kind === "workers" || hasServiceLoadBalancers(spec) || api === all;
  return {
    ...(used && { "loadBalancer.provider": all }),
    ...(api !== undefined && api !== all && { "endpoint.provider": api }),
  };
}

const written = (places: readonly Place[], chosen: "flavor" | "zone"): Record<string, string> =>
  Object.fromEntries(
    places.flatMap((place) => {
      const [key, value] = place[chosen];
      return value === undefined ? [] : [[`${place.path}.${key}`, value]];
    }),
  );

/**
 * Returns the providers, flavors and zones that Octavia must offer. Returns undefined if the
 * specification needs no load balancers.
 */
export function getOctaviaRequirements(spec: ClusterSpec): OctaviaRequirements | undefined {
  const providers = providersOf(spec);
  if (Object.keys(providers).length === 0) return undefined;
  const places = [...ownPlaces(spec), ...placesOfServices(spec)];
  return {
    providers,
    flavors: written(places, "flavor"),
    zones: written(places, "zone"),
  };
}

/**
 * Returns the numbers of parts of the cluster's load balancers. Each port of a load balancer has a
 * listener, a pool and a health monitor. The pools of a Service contain the workers.
 */
export function countBalancerParts(
  { endpoint, ingress, samples, sampleServices, loadBalancer }: ClusterSpec,
  { groups: [{ machines: controlPlanes }, ...pools] }: ClusterPlan,
): Readonly<Record<BalancerPart, number>> {
  const workers = pools.flatMap(({ machines }) => machines);
  const nodes = workers.length > 0 ? workers : controlPlanes;
  const onPool = ingress?.kind === "workers" ? ingressPorts.length : 0;
  const behind = workers.filter(({ pool }) => ingress?.kind === "workers" && pool === ingress.pool);
  const ofIngress = ingress?.kind === "service" ? ingressPorts.length : 0;
  const sampleCount = sampleServices.external === false ? 1 : 2;
  const ofSamples = samples ? sampleCount : 0;
  const ofApi = endpoint.kind === "load-balancer" ? 1 : 0;
  const ofServices = ofIngress + ofSamples;
  const listeners = ofApi + onPool + ofServices;
  return {
    listeners,
    pools: listeners,
    members: ofApi * controlPlanes.length + onPool * behind.length + ofServices * nodes.length,
    "health monitors": loadBalancer.createMonitor === false ? ofApi + onPool : listeners,
  };
}
