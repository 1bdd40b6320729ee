/** What the load balancers of a cluster are asked for with (pure). */
import type { OctaviaChoices } from "../../cloud/needs.js";
import type { ClusterSpec } from "../spec/cluster-spec.js";

/** A load balancer, or what makes some: where its choices are written, and what they are called there. */
interface Place {
  readonly path: string;
  readonly flavorId?: string | undefined;
  readonly zone?: string | undefined;
  /** Of the zone. */
  readonly key: "zone" | "availabilityZone";
}

/** The same as the cloud controller is told it. */
interface Annotated {
  readonly flavorId?: string | undefined;
  readonly availabilityZone?: string | undefined;
}

/** Whether the cloud controller makes load balancers of Services. */
export const servesBalancers = ({
  loadBalancer,
  cloudController,
}: Pick<ClusterSpec, "loadBalancer" | "cloudController">): boolean =>
  loadBalancer.enabled !== false && cloudController.enabled !== false;

/** Of the program's own load balancers. */
const ownPlaces = ({ endpoint, ingress }: ClusterSpec): Place[] => [
  ...(endpoint.kind === "load-balancer"
    ? [{ ...endpoint, path: "endpoint", key: "zone" as const }]
    : []),
  ...(ingress?.kind === "workers" ? [{ ...ingress, path: "ingress", key: "zone" as const }] : []),
];

/** Of those that the cloud controller makes. */
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

/** The provider of the API's load balancer may be another one than that of all others. */
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

/** What Octavia is asked for; undefined where it is asked for nothing. */
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
