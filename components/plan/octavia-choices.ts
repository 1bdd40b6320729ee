/** Options of a cluster's load balancers, which the cloud must offer (pure). */
import type { OctaviaChoices } from "../../cloud/needs.js";
import type { ClusterSpec } from "../spec/cluster-spec.js";

/** Load balancer, or a setting that creates some: the path and the names of its options. */
interface Place {
  readonly path: string;
  readonly flavorId?: string | undefined;
  readonly zone?: string | undefined;
  /** Name of the option for the zone. */
  readonly key: "zone" | "availabilityZone";
}

/** Options in the form for the cloud controller. */
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

/** Returns the program's own load balancers. */
const ownPlaces = ({ endpoint, ingress }: ClusterSpec): Place[] => [
  ...(endpoint.kind === "load-balancer"
    ? [{ ...endpoint, path: "endpoint", key: "zone" as const }]
    : []),
  ...(ingress?.kind === "workers" ? [{ ...ingress, path: "ingress", key: "zone" as const }] : []),
];

/** Returns the settings of load balancers that the cloud controller creates. */
function placesOfServices(spec: ClusterSpec): Place[] {
  if (!servesBalancers(spec)) return [];
  const { loadBalancer, ingress, samples, sampleServices } = spec;
  const annotated: Readonly<Record<string, Annotated | undefined>> = {
    loadBalancer,
    ...(ingress?.kind === "service" && { "ingress.annotations": ingress.annotations }),
    ...(samples && { "sampleServices.annotations": sampleServices.annotations }),
  };
  return Object.entries(annotated).map(([path, written]) => ({
    ...{ path, key: "availabilityZone" as const },
    ...{ flavorId: written?.flavorId, zone: written?.availabilityZone },
  }));
}

/**
 * Returns the providers by setting. The API's load balancer may have another one than all others.
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

/** Returns what is requested from Octavia. Undefined: nothing. */
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
