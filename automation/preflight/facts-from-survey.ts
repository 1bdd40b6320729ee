import type { OwnedByStack, Survey } from "../../openstack/checks/preflight-checks.js";
import { isUuid, matchesOf } from "../../openstack/client/name-or-id.js";
import type { CloudScope } from "../../openstack/auth/cloud-scope.js";
import type { RequiredLookups } from "../../openstack/checks/cloud-lookups.js";
import type { CloudFacts } from "../../components/lookup/cloud-lookup.js";
import { isBetterNotIgnored } from "../../components/lookup/refused-power-states.js";
import { existingServersOf, type ExistingServer } from "../../components/lookup/server-metadata.js";

interface Thing {
  readonly id: string;
  readonly name: string | null;
}

/** Returns the object with this name or ID. Undefined unless exactly one object matches. */
function soleMatch<T extends Thing>(reference: string, all: readonly T[]): T | undefined {
  const [first, second] = matchesOf(reference, all);
  return second ? undefined : first;
}

/**
 * Returns the ID for each of the given names. Undefined unless each name stands for exactly one ID.
 */
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

/**
 * Returns whether the cluster uses existing networks, addresses or security groups. The program
 * then needs more facts than the survey contains.
 */
const usesExisting = ({
  network,
  admin,
  floatingIps = [],
  securityGroups = [],
}: RequiredLookups): boolean =>
  [network, admin, ...floatingIps, ...securityGroups].some((one) => one !== undefined);

/**
 * Returns the external networks with the given names. For a name that is not set, ID and name are
 * empty. Undefined unless each set name stands for exactly one network.
 */
function externalIn(
  { externalNetworks }: Survey,
  { externalNetwork, servicesExternalNetwork }: RequiredLookups,
):
  | Pick<CloudFacts, "externalNetworkId" | "externalNetworkName" | "servicesExternalNetwork">
  | undefined {
  const none = { id: "", name: "" };
  const found = (one: string | undefined) =>
    one === undefined ? none : soleMatch(one, externalNetworks);
  const [outside, services] = [found(externalNetwork), found(servicesExternalNetwork)];
  if (!outside || !services) return undefined;
  return {
    externalNetworkId: outside.id,
    externalNetworkName: outside.name,
    ...(services !== none && {
      servicesExternalNetwork: { id: services.id, name: services.name },
    }),
  };
}

/**
 * Takes facts from a survey of the cloud, so the program need not look them up
 * (components/lookup/cloud-lookup.ts). Returns undefined if the program has to look up the facts:
 * the cluster uses existing objects, a name does not match exactly one object, a server failed, or
 * the program may have to decide about a server's power state. Pure.
 *
 * @param held facts about the stack, to leave out servers of other clusters
 */
export function factsFromSurvey(
  survey: Survey,
  wanted: RequiredLookups,
  scope: CloudScope | undefined,
  held: OwnedByStack,
): CloudFacts | undefined {
  if (usesExisting(wanted)) return undefined;
  const { images, flavors, objects } = survey;
  const listed = objects.filter(({ kind }) => kind === "server");
  const servers = existingServersOf(listed, { cluster: wanted.cluster ?? "", held });
  const statuses = new Map(listed.map(({ id, status }) => [id, status]));
  const isJudged = ({ id, failed }: ExistingServer): boolean =>
    failed || isBetterNotIgnored("active", statuses.get(id) ?? "");
  if (Object.values(servers).some(isJudged)) return undefined;
  const external = externalIn(survey, wanted);
  const imageIds = idsOf(wanted.images, (one) => (isUuid(one) ? one : soleMatch(one, images)?.id));
  const flavorIds = idsOf(wanted.flavors, (one) => soleMatch(one, flavors)?.id);
  if (!external || !scope || !imageIds || !flavorIds) return undefined;
  return { imageIds, flavorIds, ...external, scope, servers };
}
