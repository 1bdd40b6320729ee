import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import { recogniseError } from "../../base/failures/failure.js";
import { orderLookups, isUuid } from "../../openstack/client/name-or-id.js";
import { getCloudScope, type CloudScope } from "../../openstack/auth/token-scope.js";
import {
  withoutPlaceholders,
  type RequiredLookups,
} from "../../openstack/checks/required-lookups.js";
import { ProgramError } from "../pulumi/errors.js";
import { findServers } from "./existing-servers.js";
import { findFloatingIp } from "./existing-floating-ip.js";
import {
  findAdminNetwork,
  findNetwork,
  type FoundAdminNetwork,
  type FoundNetwork,
} from "./existing-network.js";
import { addPluginVersion } from "../pulumi/openstack-plugin.js";
import { requireNoForgottenSubnet } from "./forgotten-subnet.js";
import type { LocalContext } from "./local-context.js";
import {
  findFirstMatch,
  getCloudErrorReason,
  type LookupResult,
  type Lookup,
  type FoundObject,
} from "./lookup-result.js";
import { requireRecordedLocation } from "./recorded-location.js";
import { isServerKept, type ExistingServers } from "./server-metadata.js";

/** Facts about the cloud, which the program looks up before it creates anything. */
export interface CloudFacts {
  /**
   * IDs of images, by the name or ID in the specification. Empty: the image does not exist any more,
   * but only machines with existing servers use it.
   */
  readonly imageIds: Readonly<Record<string, string>>;
  /** ID of the external network. Empty: the specification names no external network. */
  readonly externalNetworkId: string;
  /** Name of the external network. OpenStack's provider needs the name to request floating IPs. */
  readonly externalNetworkName: string;
  /** Existing network for the machines. Undefined: the program creates a network. */
  readonly network?: FoundNetwork;
  /** Network of the machines' second interfaces. Undefined: machines have one interface. */
  readonly admin?: FoundAdminNetwork;
  /** IDs of flavors, by the name or ID in the specification. Empty: as for images. */
  readonly flavorIds: Readonly<Record<string, string>>;
  /**
   * IDs of security groups, by the name or ID in the specification. Undefined: the specification
   * names no security groups.
   */
  readonly securityGroupIds?: Readonly<Record<string, string>>;
  readonly scope: CloudScope;
  /**
   * External network for the load balancers of Services. Undefined: these load balancers use no
   * separate external network.
   */
  readonly servicesExternalNetwork?: FoundExternalNetwork;
  /** Servers of the cluster in Nova. Undefined: the program could not list servers in Nova. */
  readonly servers?: ExistingServers;
}

export interface FoundExternalNetwork {
  readonly id: string;
  readonly name: string;
}

/** Returns the error for a failed lookup. The text of `reason` determines the failure code. */
const unusable = (sentence: string, reason: string): ProgramError =>
  new ProgramError(
    recogniseError(reason, "openstack:")?.code ?? "FAILED",
    `${sentence}: ${reason}`,
  );

/** Returns the existing network for the machines. Throws if this network was not looked up. */
export const requireExistingNetwork = ({ network }: CloudFacts): FoundNetwork =>
  network ?? lacking("the network that exists");

/** Returns the network of the second interfaces. Throws if this network was not looked up. */
export const requireAdminNetwork = ({ admin }: CloudFacts): FoundAdminNetwork =>
  admin ?? lacking("the network of `network.admin`");

/**
 * Returns the external network for the load balancers of Services. Throws if this network was not
 * looked up.
 */
export const requireServicesExternalNetwork = ({
  servicesExternalNetwork,
}: CloudFacts): FoundExternalNetwork =>
  servicesExternalNetwork ?? lacking("the network of `loadBalancer.network.externalNetwork`");

const lacking = (what: string): never => {
  throw new ProgramError(
    "INVALID_CONFIG",
    `The cloud's facts lack ${what}; pass the result of \`prepare\` to \`new Cluster\` unchanged.`,
  );
};

/** Returns the ID of a security group. Throws if this security group was not looked up. */
export const requireSecurityGroupId = (
  { securityGroupIds }: Pick<CloudFacts, "securityGroupIds">,
  reference: string,
): string => securityGroupIds?.[reference] ?? lacking(`the security group "${reference}"`);

/**
 * Returns the lookups for an image. The provider cannot look up an image by ID, so an ID is
 * returned unchecked.
 */
export const imageLookups = (reference: string, opts: pulumi.InvokeOptions): readonly Lookup[] => [
  async () => {
    if (isUuid(reference)) return [{ id: reference }];
    const { ids } = await openstack.images.getImageIds({ name: reference }, opts);
    return ids.map((id) => ({ id }));
  },
];

const networkLookups = (reference: string, opts: pulumi.InvokeOptions): readonly Lookup[] => {
  const findNetworks = async (
    by: openstack.networking.GetNetworkArgs,
  ): Promise<readonly FoundObject[]> => [
    await openstack.networking.getNetwork({ ...by, external: true }, opts),
  ];
  return orderLookups(reference, {
    byId: () => findNetworks({ networkId: reference }),
    byName: () => findNetworks({ name: reference }),
  });
};

export const flavorLookups = (reference: string, opts: pulumi.InvokeOptions): readonly Lookup[] => {
  const findFlavors = async (
    by: openstack.compute.GetFlavorArgs,
  ): Promise<readonly FoundObject[]> => [await openstack.compute.getFlavor(by, opts)];
  return orderLookups(reference, {
    byId: () => findFlavors({ flavorId: reference }),
    byName: () => findFlavors({ name: reference }),
  });
};

export const securityGroupLookups = (
  reference: string,
  opts: pulumi.InvokeOptions,
): readonly Lookup[] => {
  const findGroups = async (
    by: openstack.networking.GetSecGroupArgs,
  ): Promise<readonly FoundObject[]> => [await openstack.networking.getSecGroup(by, opts)];
  return orderLookups(reference, {
    byId: () => findGroups({ secgroupId: reference }),
    byName: () => findGroups({ name: reference }),
  });
};

/**
 * Looks up everything that the cluster needs, except objects whose name or ID is known only during
 * the run (cloud-objects.ts). Runs before anything is created. Throws one error that lists all
 * missing objects. If the cloud cannot be used at all, throws an error with the reason.
 *
 * @param operator access to Nova, to list the cluster's servers. Default: no servers are listed
 */
export async function lookUpCloud(
  wanted: RequiredLookups,
  opts: pulumi.InvokeOptions = {},
  operator?: LocalContext,
): Promise<CloudFacts> {
  const opened = addPluginVersion(wanted.openstackPlugin, opts);
  return ask(withoutPlaceholders(wanted), opened, operator);
}

async function ask(
  wanted: RequiredLookups,
  opts: pulumi.InvokeOptions,
  operator: LocalContext | undefined,
): Promise<CloudFacts> {
  const { externalNetwork, network, securityGroups = [], floatingIps = [] } = wanted;
  const [images, flavors] = [[...new Set(wanted.images)], [...new Set(wanted.flavors)]];
  const scope = openstack.identity.getAuthScope({ name: "operator" }, opts);
  // The lookup of the scope finishes before other lookups begin, because every user may look up the
  // scope. If the credential is wrong, the error is then reported only once.
  const projectScope = await scope.then(scopeOf).catch((error: unknown) => {
    if (pulumi.RunError.isInstance(error)) throw error;
    throw unusable("The cloud cannot be used", getCloudErrorReason(error));
  });
  await compareWithState(wanted, projectScope, opts);
  const servers = whoseServers(wanted, projectScope, operator);
  const outside = findExternal(externalNetwork, opts);
  const inside = network && findNetwork(network, { outside, opts });
  const adminNetwork = wanted.admin && findAdminNetwork(wanted.admin, { opts });
  const services = findExternal(wanted.servicesExternalNetwork, opts);
  const { machines } = wanted;
  const needed = servers.then((existing) => findNeededNames(machines, existing));
  const things = await Promise.all([
    ...images.map((image) =>
      ignoreUnlessNeeded(needed, image, findFirstMatch("image", image, imageLookups(image, opts))),
    ),
    outside ?? none,
    ...flavors.map((flavor) =>
      ignoreUnlessNeeded(
        needed,
        flavor,
        findFirstMatch("flavor", flavor, flavorLookups(flavor, opts)),
      ),
    ),
    ...securityGroups.map((one) =>
      findFirstMatch("security group", one, securityGroupLookups(one, opts)),
    ),
    ...floatingIps.map((one) => findFloatingIp(one, opts)),
  ]);
  const places = [await inside, await adminNetwork, await services] as const;
  const found = requireAll(things, ...places);
  const existing = await servers;
  const external = found[images.length] ?? none;
  const idsOf = (names: readonly string[], all: readonly FoundObject[]): Record<string, string> =>
    Object.fromEntries(names.map((name, index) => [name, (all[index] ?? none).id]));
  return {
    imageIds: idsOf(images, found),
    externalNetworkId: external.id,
    externalNetworkName: external.name ?? "",
    flavorIds: idsOf(flavors, found.slice(images.length + 1)),
    ...(securityGroups.length > 0 && {
      securityGroupIds: idsOf(securityGroups, found.slice(images.length + 1 + flavors.length)),
    }),
    scope: projectScope,
    ...placesOf(...places),
    ...(existing && { servers: existing }),
  };
}

/** Throws if the cluster's objects in the state are not those that this cloud contains. */
async function compareWithState(
  { cluster }: RequiredLookups,
  scope: CloudScope,
  opts: pulumi.InvokeOptions,
): Promise<void> {
  if (cluster === undefined) return;
  await requireRecordedLocation(cluster, scope);
  await requireNoForgottenSubnet(cluster, opts);
}

/** Returns the cluster's servers in Nova. Returns undefined without `operator`. */
const whoseServers = async (
  { cluster }: RequiredLookups,
  { projectId }: CloudScope,
  operator: LocalContext | undefined,
): Promise<ExistingServers | undefined> =>
  cluster !== undefined && operator ? findServers(cluster, projectId, operator) : undefined;

/**
 * Returns the images and flavors of the machines whose servers the run creates or replaces. Returns
 * undefined if all images and flavors are needed, because the machines or their servers are unknown.
 */
export const findNeededNames = (
  machines: RequiredLookups["machines"],
  existing: ExistingServers | undefined,
): ReadonlySet<string> | undefined =>
  machines &&
  existing &&
  new Set(
    machines
      .filter((machine) => !isServerKept(machine, existing))
      .flatMap(({ image, flavor }) => [image, flavor]),
  );

/**
 * Returns the result of a lookup. Returns an empty object if a name does not exist or is ambiguous,
 * but no machine to create needs the name. Existing servers ignore changes of image and flavor.
 */
export async function ignoreUnlessNeeded(
  needed: ReadonlySet<string> | undefined | Promise<ReadonlySet<string> | undefined>,
  name: string,
  looking: Promise<LookupResult>,
): Promise<LookupResult> {
  const [found, names] = await Promise.all([looking, needed]);
  return "problem" in found && found.named && names?.has(name) === false ? none : found;
}

/** Finds an external network. Returns undefined if the specification names none. */
const findExternal = (
  reference: string | undefined,
  opts: pulumi.InvokeOptions,
): Promise<LookupResult> | undefined =>
  reference === undefined ? undefined : findExternalNetwork(reference, opts);

export const findExternalNetwork = (
  reference: string,
  opts: pulumi.InvokeOptions,
): Promise<LookupResult> =>
  findFirstMatch("external network", reference, networkLookups(reference, opts));

/**
 * Returns the networks that were found. Leaves out networks that the specification does not name.
 */
const placesOf = (
  network?: LookupResult<FoundNetwork>,
  admin?: LookupResult<FoundAdminNetwork>,
  pool?: LookupResult,
): Pick<CloudFacts, "network" | "admin" | "servicesExternalNetwork"> => ({
  ...(network && "networkId" in network && { network }),
  ...(admin && "networkId" in admin && { admin }),
  ...(pool && "id" in pool && { servicesExternalNetwork: { id: pool.id, name: pool.name ?? "" } }),
});

/** Placeholder for a lookup that the specification does not need. */
const none: FoundObject = { id: "" };

/** Returns the object that a lookup found. Throws if the lookup found none. */
export function requireFound<T extends object>(found: LookupResult<T>): T {
  requireAll([], found as LookupResult);
  return found as T;
}

function requireAll(
  all: readonly LookupResult[],
  ...places: readonly (LookupResult<FoundNetwork | FoundAdminNetwork | FoundObject> | undefined)[]
): FoundObject[] {
  const problems = [...all, ...places].flatMap((found) =>
    found && "problem" in found ? [found] : [],
  );
  const unnamed = problems.find(({ named }) => !named);
  if (unnamed) throw unusable("A request to the cloud failed", unnamed.problem);
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
  const scope = getCloudScope({
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
