import type { Held, Survey } from "../../cloud/preflight.js";
import { isUuid, meantBy } from "../../cloud/reference.js";
import type { CloudScope } from "../../cloud/scope.js";
import type { Wanted } from "../../cloud/wanted.js";
import type { CloudFacts } from "../../components/support/catalog.js";
import { isBetterNotIgnored } from "../../components/support/power-states.js";
import { marksOn, type ExistingServer } from "../../components/support/server-marks.js";

interface Thing {
  readonly id: string;
  readonly name: string | null;
}

/** The only one that is meant. */
function only<T extends Thing>(reference: string, all: readonly T[]): T | undefined {
  const [first, second] = meantBy(reference, all);
  return second ? undefined : first;
}

/** The IDs of what was wanted, by what it was called; undefined where it is not one thing each. */
function idsOf(
  wanted: readonly string[],
  idOf: (reference: string) => string | undefined,
): Record<string, string> | undefined {
  const all = wanted.flatMap((one) => {
    const id = idOf(one);
    return id === undefined ? [] : [[one, id] as const];
  });
  return all.length === wanted.length ? Object.fromEntries(all) : undefined;
}

/** Whether the cluster uses something that exists, which is more than a name to look up. */
const usesExisting = ({ network, admin, floatingIps = [], securityGroups = [] }: Wanted): boolean =>
  [network, admin, ...floatingIps, ...securityGroups].some((one) => one !== undefined);

/** External networks by what they were called: none where none was wanted; undefined where it is not one thing each. */
function externalIn(
  { externalNetworks }: Survey,
  { externalNetwork, servicesExternalNetwork }: Wanted,
):
  | Pick<CloudFacts, "externalNetworkId" | "externalNetworkName" | "servicesExternalNetwork">
  | undefined {
  const none = { id: "", name: "" };
  const found = (one: string | undefined) =>
    one === undefined ? none : only(one, externalNetworks);
  const [outside, services] = [found(externalNetwork), found(servicesExternalNetwork)];
  if (!outside || !services) return undefined;
  return {
    ...{ externalNetworkId: outside.id, externalNetworkName: outside.name },
    ...(services !== none && {
      servicesExternalNetwork: { id: services.id, name: services.name },
    }),
  };
}

/**
 * What the program would find by itself (components/support/catalog.ts), of what a survey found. Nothing where that does not say all of it:
 * of what exists and is only named, where a name means several things, and of a server that is marked or whose power
 * state may have to be judged: the program judges. Pure.
 *
 * @param held what is the stack's: servers of another cluster are none of this one's
 */
export function factsIn(
  survey: Survey,
  wanted: Wanted,
  scope: CloudScope | undefined,
  held: Held,
): CloudFacts | undefined {
  if (usesExisting(wanted)) return undefined;
  const { images, flavors, objects } = survey;
  const listed = objects.filter(({ kind }) => kind === "server");
  const servers = marksOn(listed, { cluster: wanted.cluster ?? "", held });
  const statuses = new Map(listed.map(({ id, status }) => [id, status]));
  const isJudged = ({ id, failed }: ExistingServer): boolean =>
    failed || isBetterNotIgnored("active", statuses.get(id) ?? "");
  if (Object.values(servers).some(isJudged)) return undefined;
  const external = externalIn(survey, wanted);
  const imageIds = idsOf(wanted.images, (one) => (isUuid(one) ? one : only(one, images)?.id));
  const flavorIds = idsOf(wanted.flavors, (one) => only(one, flavors)?.id);
  if (!external || !scope || !imageIds || !flavorIds) return undefined;
  return { imageIds, flavorIds, ...external, scope, servers };
}
