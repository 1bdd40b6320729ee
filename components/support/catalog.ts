import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import { recognised } from "../../base/failure.js";
import { inOrder, isUuid } from "../../cloud/reference.js";
import { scopeIn, type CloudScope } from "../../cloud/scope.js";
import type { Wanted } from "../../cloud/wanted.js";
import { ProgramError } from "./errors.js";
import { findServers } from "./existing-servers.js";
import { findFloatingIp } from "./existing-floating-ip.js";
import {
  findAdminNetwork,
  findNetwork,
  type FoundAdminNetwork,
  type FoundNetwork,
} from "./existing-network.js";
import { knownFacts, noteFacts } from "./known-facts.js";
import { lookingWith } from "./openstack-plugin.js";
import type { Operator } from "./operator.js";
import { find, reasonOf, type Found, type Lookup, type Thing } from "./look-up.js";
import type { ExistingServers } from "./server-marks.js";

/** What was found: everything that decides whether the cluster can be made at all. */
export interface CloudFacts {
  /** By what the image was called: its name or its ID. */
  readonly imageIds: Readonly<Record<string, string>>;
  /** Empty: none was asked for. */
  readonly externalNetworkId: string;
  /** OpenStack's provider asks for floating IPs by it. */
  readonly externalNetworkName: string;
  /** The network that the machines are put into, where none is made for them. */
  readonly network?: FoundNetwork;
  /** The network of the machines' second interfaces. */
  readonly admin?: FoundAdminNetwork;
  /** By what the flavor was called: its name or its ID. */
  readonly flavorIds: Readonly<Record<string, string>>;
  /** By what the security group was called: its name or its ID. Absent: none was asked for. */
  readonly securityGroupIds?: Readonly<Record<string, string>>;
  readonly scope: CloudScope;
  /** External network of the services, where they have a network of their own. */
  readonly servicesExternalNetwork?: FoundExternalNetwork;
  /** The cluster's machines as Nova has them. Absent: there is nobody with whose credential it could be asked. */
  readonly servers?: ExistingServers;
}

export interface FoundExternalNetwork {
  readonly id: string;
  readonly name: string;
}

/** The cloud gives no answers: as what it is known by its own words. */
const unusable = (sentence: string, reason: string): ProgramError =>
  new ProgramError(recognised(reason, "openstack:")?.code ?? "FAILED", `${sentence}: ${reason}`);

/** The network that was looked up, where one was asked for. */
export const networkIn = ({ network }: CloudFacts): FoundNetwork =>
  network ?? lacking("the network that exists");

/** The same of the network of second interfaces. */
export const adminNetworkIn = ({ admin }: CloudFacts): FoundAdminNetwork =>
  admin ?? lacking("the network of `network.admin`");

/** The same of the external network of the services. */
export const servicesExternalNetworkIn = ({
  servicesExternalNetwork,
}: CloudFacts): FoundExternalNetwork =>
  servicesExternalNetwork ?? lacking("the network of `loadBalancer.network.externalNetwork`");

const lacking = (what: string): never => {
  throw new ProgramError(
    "INVALID_CONFIG",
    `The cloud's facts lack ${what}; look them up with \`lookUpCloud(wantedOf(spec))\`.`,
  );
};

/** The ID of a security group that was looked up. */
export const securityGroupIn = (
  { securityGroupIds }: Pick<CloudFacts, "securityGroupIds">,
  reference: string,
): string => securityGroupIds?.[reference] ?? lacking(`the security group "${reference}"`);

/** The provider looks for images by name only, so an ID is used as it is. */
const imageLookups = (reference: string, opts: pulumi.InvokeOptions): readonly Lookup[] => [
  async () => {
    if (isUuid(reference)) return [{ id: reference }];
    const { ids } = await openstack.images.getImageIds({ name: reference }, opts);
    return ids.map((id) => ({ id }));
  },
];

const networkLookups = (reference: string, opts: pulumi.InvokeOptions): readonly Lookup[] => {
  const look = async (by: openstack.networking.GetNetworkArgs): Promise<readonly Thing[]> => [
    await openstack.networking.getNetwork({ ...by, external: true }, opts),
  ];
  return inOrder(reference, {
    byId: () => look({ networkId: reference }),
    byName: () => look({ name: reference }),
  });
};

const flavorLookups = (reference: string, opts: pulumi.InvokeOptions): readonly Lookup[] => {
  const look = async (by: openstack.compute.GetFlavorArgs): Promise<readonly Thing[]> => [
    await openstack.compute.getFlavor(by, opts),
  ];
  return inOrder(reference, {
    byId: () => look({ flavorId: reference }),
    byName: () => look({ name: reference }),
  });
};

const securityGroupLookups = (reference: string, opts: pulumi.InvokeOptions): readonly Lookup[] => {
  const look = async (by: openstack.networking.GetSecGroupArgs): Promise<readonly Thing[]> => [
    await openstack.networking.getSecGroup(by, opts),
  ];
  return inOrder(reference, {
    byId: () => look({ secgroupId: reference }),
    byName: () => look({ name: reference }),
  });
};

/**
 * Looks up everything before anything is made. Throws one error with all that the cloud does not have, or
 * with the one reason why the cloud cannot be asked.
 *
 * @param operator with whom Nova is asked which machines there are. Default: nobody
 */
export async function lookUpCloud(
  wanted: Wanted,
  opts: pulumi.InvokeOptions = {},
  operator?: Operator,
): Promise<CloudFacts> {
  const known = knownFacts(wanted);
  if (known) return known;
  const facts = await ask(wanted, lookingWith(wanted.openstackPlugin, opts), operator);
  noteFacts(wanted, facts);
  return facts;
}

async function ask(
  wanted: Wanted,
  opts: pulumi.InvokeOptions,
  operator: Operator | undefined,
): Promise<CloudFacts> {
  const { externalNetwork, network, securityGroups = [], floatingIps = [] } = wanted;
  const [images, flavors] = [[...new Set(wanted.images)], [...new Set(wanted.flavors)]];
  const scope = openstack.identity.getAuthScope({ name: "operator" }, opts);
  // Whatever is wrong with the credential is told once, by the lookup that everybody may make.
  const place = await scope.then(scopeOf).catch((error: unknown) => {
    if (pulumi.RunError.isInstance(error)) throw error;
    throw unusable("The cloud cannot be used", reasonOf(error));
  });
  const servers = whoseServers(wanted, place, operator);
  const outside = findExternal(externalNetwork, opts);
  const inside = network && findNetwork(network, { outside, opts });
  const beside = wanted.admin && findAdminNetwork(wanted.admin, { opts });
  const services = findExternal(wanted.servicesExternalNetwork, opts);
  const things = await Promise.all([
    ...images.map((image) => find("image", image, imageLookups(image, opts))),
    outside ?? none,
    ...flavors.map((flavor) => find("flavor", flavor, flavorLookups(flavor, opts))),
    ...securityGroups.map((one) => find("security group", one, securityGroupLookups(one, opts))),
    ...floatingIps.map((one) => findFloatingIp(one, opts)),
  ]);
  const places = [await inside, await beside, await services] as const;
  const found = requireAll(things, ...places);
  const existing = await servers;
  const external = found[images.length] ?? none;
  const idsOf = (names: readonly string[], all: readonly Thing[]): Record<string, string> =>
    Object.fromEntries(names.map((name, index) => [name, (all[index] ?? none).id]));
  return {
    imageIds: idsOf(images, found),
    externalNetworkId: external.id,
    externalNetworkName: external.name ?? "",
    flavorIds: idsOf(flavors, found.slice(images.length + 1)),
    ...(securityGroups.length > 0 && {
      securityGroupIds: idsOf(securityGroups, found.slice(images.length + 1 + flavors.length)),
    }),
    scope: place,
    ...placesOf(...places),
    ...(existing && { servers: existing }),
  };
}

/** The cluster's servers, where somebody may ask Nova. */
const whoseServers = async (
  { cluster }: Wanted,
  { projectId }: CloudScope,
  operator: Operator | undefined,
): Promise<ExistingServers | undefined> =>
  cluster !== undefined && operator ? findServers(cluster, projectId, operator) : undefined;

/** Nothing where nobody asked for one. */
const findExternal = (
  reference: string | undefined,
  opts: pulumi.InvokeOptions,
): Promise<Found> | undefined =>
  reference === undefined
    ? undefined
    : find("external network", reference, networkLookups(reference, opts));

/** The networks that were asked for and found. */
const placesOf = (
  network?: Found<FoundNetwork>,
  admin?: Found<FoundAdminNetwork>,
  pool?: Found,
): Pick<CloudFacts, "network" | "admin" | "servicesExternalNetwork"> => ({
  ...(network && "networkId" in network && { network }),
  ...(admin && "networkId" in admin && { admin }),
  ...(pool && "id" in pool && { servicesExternalNetwork: { id: pool.id, name: pool.name ?? "" } }),
});

/** What nobody asked for. */
const none: Thing = { id: "" };

function requireAll(
  all: readonly Found[],
  ...places: readonly (Found<FoundNetwork | FoundAdminNetwork | Thing> | undefined)[]
): Thing[] {
  const problems = [...all, ...places].flatMap((found) =>
    found && "problem" in found ? [found] : [],
  );
  const unnamed = problems.find(({ named }) => !named);
  if (unnamed) throw unusable("The cloud cannot be asked", unnamed.problem);
  if (problems.length > 0) {
    const list = problems.map(({ problem }) => `  ${problem}`).join("\n");
    throw new ProgramError(
      "NOT_FOUND",
      `This project of the cloud lacks what the cluster needs:\n${list}`,
    );
  }
  return all.flatMap((found) => ("id" in found ? [found] : []));
}

function scopeOf(found: openstack.identity.GetAuthScopeResult): CloudScope {
  const scope = scopeIn({
    endpoints: found.serviceCatalogs
      .filter((service) => service.type === "identity")
      .flatMap((service) => service.endpoints),
    region: found.region,
    projectId: found.projectId,
    roles: found.roles.map((role) => role.roleName),
  });
  if (!scope) {
    throw new ProgramError(
      "FAILED",
      "The cloud's catalog has no public identity endpoint; ask its operator.",
    );
  }
  return scope;
}
