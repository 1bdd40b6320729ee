/**
 * Collects the Octavia providers, flavors and zones that a specification uses, for the check
 * whether Octavia offers them (pure).
 */
import type { OctaviaChoices } from "../../openstack/checks/cluster-requirements.js";
import type { ClusterSpec } from "../config/cluster-spec.js";

/** Setting that creates one or several load balancers, by its path in the specification. */
interface Place {
  readonly path: string;
  readonly flavorId?: string | undefined;
  readonly zone?: string | undefined;
  /** Name of the option for the zone. */
  readonly key: "zone" | "availabilityZone";
}

/** Flavor and zone with the names that annotations of Services and cloud.conf use. */
interface Annotated {
  readonly flavorId?: string | undefined;
  readonly availabilityZone?: string | undefined;
}

/** Returns whether the cloud controller creates load balancers for Services. */
export const servesBalancers = ({
  loadBalancer,
  cloudController,
}: Pick<ClusterSpec, "loadBalancer" | "cloudController">): boolean =>
  loadBalancer.enabled !== false && cloudController.enabled !== false;

/** Returns the settings of load balancers that the program itself creates. */
const ownPlaces = ({ endpoint, ingress }: ClusterSpec): Place[] => [
  ...(endpoint.kind === "load-balancer"
    ? [{ ...endpoint, path: "endpoint", key: "zone" as const }]
    : []),
  ...(ingress?.kind === "workers" ? [{ ...ingress, path: "ingress", key: "zone" as const }] : []),
];

/** Returns the settings of load balancers that the cloud controller creates for Services. */
function placesOfServices(spec: ClusterSpec): Place[] {
  if (!servesBalancers(spec)) return [];
  const { loadBalancer, ingress, samples, sampleServices } = spec;
  const annotated: Readonly<Record<string, Annotated | undefined>> = {
    loadBalancer,
    ...(ingress?.kind === "service" && { "ingress.annotations": ingress.annotations }),
    ...(samples && { "sampleServices.annotations": sampleServices.annotations }),
  };
  return Object.entries(annotated).map(([path, written]) => ({
    path,
    key: "availabilityZone" as const,
    flavorId: written?.flavorId,
    zone: written?.availabilityZone,
  }));
}

/**
 * Returns the Octavia providers in use, by path of the setting. Only the API's load balancer can
 * have a provider of its own.
 */
function providersOf(spec: ClusterSpec): Record<string, string> {
  const { endpoint, ingress, loadBalancer } = spec;
  const api = endpoint.kind === "load-balancer" ? endpoint.provider : undefined;
  const all = loadBalancer.provider;
  const used = ingress?.kind === "workers" || servesBalancers(spec) || api === all;
  return {
    ...(used && { "loadBalancer.provider": all }),
    ...(api !== undefined && api !== all && { "endpoint.provider": api }),
  };
}

const written = (
  places: readonly Place[],
  chosen: (place: Place) => readonly [string, string | undefined],
): Record<string, string> =>
  Object.fromEntries(
    places.flatMap((place) => {
      const [key, value] = chosen(place);
      return value === undefined ? [] : [[`${place.path}.${key}`, value]];
    }),
  );

/**
 * Returns the providers, flavors and zones that Octavia must offer. Returns undefined if the
 * specification needs no load balancers.
 */
export function octaviaChoices(spec: ClusterSpec): OctaviaChoices | undefined {
  const providers = providersOf(spec);
  if (Object.keys(providers).length === 0) return undefined;
  const places = [...ownPlaces(spec), ...placesOfServices(spec)];
  return {
    providers,
    flavors: written(places, ({ flavorId }) => ["flavorId", flavorId]),
    zones: written(places, ({ key, zone }) => [key, zone]),
  };
}
