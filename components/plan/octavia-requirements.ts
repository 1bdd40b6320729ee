/**
 * Collects the Octavia providers, flavors and zones that a specification uses, for the check
 * whether Octavia offers them (pure).
 */
import type { OctaviaRequirements } from "../../openstack/checks/cluster-requirements.js";
import type { ClusterSpec } from "../config/cluster-spec.js";
import { serviceAnnotationKeys } from "../config/load-balancing/service-annotations.js";

/** Setting that creates one or several load balancers, by its path in the specification. */
interface Place {
  readonly path: string;
  /** Flavor and zone, with the names of the options for them. */
  readonly flavor: Choice;
  readonly zone: Choice;
}
type Choice = readonly [key: string, value: string | undefined];

/** Returns whether the cloud controller creates load balancers for Services. */
export const createsServiceLoadBalancers = ({
  loadBalancer,
  cloudController,
}: Pick<ClusterSpec, "loadBalancer" | "cloudController">): boolean =>
  loadBalancer.enabled !== false && cloudController.enabled !== false;

/** Returns the settings of load balancers that the program itself creates. */
const ownPlaces = ({ endpoint, ingress }: ClusterSpec): Place[] => [
  ...(endpoint.kind === "load-balancer" ? [ownPlace("endpoint", endpoint)] : []),
  ...(ingress?.kind === "workers" ? [ownPlace("ingress", ingress)] : []),
];

const ownPlace = (
  path: string,
  of: { readonly flavorId?: string | undefined; readonly zone?: string | undefined },
): Place => ({ path, flavor: ["flavorId", of.flavorId], zone: ["zone", of.zone] });

/** Returns the settings of load balancers that the cloud controller creates for Services. */
function placesOfServices(spec: ClusterSpec): Place[] {
  if (!createsServiceLoadBalancers(spec)) return [];
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
 * Returns the Octavia providers in use, by path of the setting. Only the API's load balancer can
 * have a provider of its own.
 */
function providersOf(spec: ClusterSpec): Record<string, string> {
  const { endpoint, ingress, loadBalancer } = spec;
  const api = endpoint.kind === "load-balancer" ? endpoint.provider : undefined;
  const all = loadBalancer.provider;
  const used = ingress?.kind === "workers" || createsServiceLoadBalancers(spec) || api === all;
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
export function octaviaRequirementsOf(spec: ClusterSpec): OctaviaRequirements | undefined {
  const providers = providersOf(spec);
  if (Object.keys(providers).length === 0) return undefined;
  const places = [...ownPlaces(spec), ...placesOfServices(spec)];
  return {
    providers,
    flavors: written(places, "flavor"),
    zones: written(places, "zone"),
  };
}
