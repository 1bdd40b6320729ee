import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";

/** Where the operator's credential leads, and what it may do there. */
export interface CloudScope {
  /** Keystone, with its version: "https://keystone.example.org/v3". */
  readonly authUrl: string;
  readonly region: string;
  readonly roles: string[];
}

/** What a cluster needs to find in the cloud, by name. */
export interface Wanted {
  readonly image: string;
  readonly externalNetwork: string;
  readonly flavors: readonly string[];
}

/** What was found: everything that decides whether the cluster can be made at all. */
export interface CloudFacts {
  readonly imageId: string;
  readonly externalNetworkId: string;
  /** By the flavor's name. */
  readonly flavorIds: Readonly<Record<string, string>>;
  readonly scope: CloudScope;
}

/** The reason in the cloud's words, without the layers that passed it on. */
const reasonOf = (error: unknown): string => {
  const text = error instanceof Error ? error.message : String(error);
  const [, reason = text] = /\n\s*\* ([^\n]+)/.exec(text) ?? [];
  return reason.trim();
};

/** A lookup by name that ends in an ID or in a sentence. */
type Found = { readonly id: string } | { readonly problem: string; readonly named: boolean };

async function find(what: string, name: string, lookup: Promise<{ id: string }>): Promise<Found> {
  try {
    return { id: (await lookup).id };
  } catch (error) {
    const reason = reasonOf(error);
    if (!/returned (no|more than one)/i.test(reason)) return { problem: reason, named: false };
    const problem = /returned no/i.test(reason) ? "does not exist" : "is not unique";
    return { problem: `the ${what} "${name}" ${problem}; write the name of another`, named: true };
  }
}

/**
 * Looks up everything by name before anything is made. Throws one error with every name that the cloud does not have, or
 * with the one reason why the cloud cannot be asked.
 */
export async function lookUpCloud(
  wanted: Wanted,
  opts: pulumi.InvokeOptions = {},
): Promise<CloudFacts> {
  const { image, externalNetwork } = wanted;
  const names = [...new Set(wanted.flavors)];
  const scope = openstack.identity.getAuthScope({ name: "operator" }, opts);
  // Whatever is wrong with the credential is told once, by the lookup that everybody may make.
  const operator = await scope.then(scopeOf).catch((error: unknown) => {
    if (pulumi.RunError.isInstance(error)) throw error;
    throw new pulumi.RunError(`The cloud cannot be used: ${reasonOf(error)}`);
  });
  const [imageFound, networkFound, ...flavorsFound] = await Promise.all([
    find("image", image, openstack.images.getImage({ name: image, mostRecent: true }, opts)),
    find(
      "external network",
      externalNetwork,
      openstack.networking.getNetwork({ name: externalNetwork, external: true }, opts),
    ),
    ...names.map((name) => find("flavor", name, openstack.compute.getFlavor({ name }, opts))),
  ]);
  const ids = idsOf([imageFound, networkFound, ...flavorsFound]);
  const [imageId = "", externalNetworkId = "", ...flavorIds] = ids;
  const byName = names.map((name, index) => [name, flavorIds[index] ?? ""] as const);
  return { imageId, externalNetworkId, flavorIds: Object.fromEntries(byName), scope: operator };
}

function idsOf(all: readonly Found[]): string[] {
  const problems = all.flatMap((found) => ("problem" in found ? [found] : []));
  const unnamed = problems.find(({ named }) => !named);
  if (unnamed) throw new pulumi.RunError(`The cloud cannot be asked: ${unnamed.problem}`);
  if (problems.length > 0) {
    const list = problems.map(({ problem }) => `  ${problem}`).join("\n");
    throw new pulumi.RunError(`This project of the cloud lacks what the cluster needs:\n${list}`);
  }
  return all.flatMap((found) => ("id" in found ? [found.id] : []));
}

function scopeOf(found: openstack.identity.GetAuthScopeResult): CloudScope {
  const endpoints = found.serviceCatalogs
    .filter((service) => service.type === "identity")
    .flatMap((service) => service.endpoints)
    .filter((endpoint) => endpoint.interface === "public");
  const endpoint = endpoints.find((one) => one.region === found.region) ?? endpoints[0];
  if (!endpoint) {
    throw new pulumi.RunError(
      "The cloud's catalog has no public identity endpoint; ask its operator.",
    );
  }
  return {
    authUrl: `${endpoint.url.replace(/\/(v3\/?)?$/, "")}/v3`,
    region: found.region || endpoint.region,
    roles: found.roles.map((role) => role.roleName).sort(),
  };
}
