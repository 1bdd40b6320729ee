import { z } from "zod";
import type { CloudClient } from "../client/cloud-client.js";
import { findByReference } from "../client/name-or-id.js";
import { listAll } from "../client/paginate.js";
import { isHiddenFromUser } from "../http/cloud-error.js";
import type { ExternalNetwork } from "./cloud-offer.js";
import type { ClusterRequirements } from "./cluster-requirements.js";
import {
  createProblem,
  createWarning,
  formatExistingNames,
  formatSeveral,
  type Finding,
} from "./finding.js";
import { checkEachMachine, type MachineChanges } from "./machine-changes.js";

/** Reports external networks in the specification that do not exist. */
export function checkExternalNetworks(
  networks: readonly ExternalNetwork[],
  { externalNetworks }: Pick<ClusterRequirements, "externalNetworks">,
): Finding[] {
  return Object.entries(externalNetworks).flatMap(([path, wanted]) => {
    const found = findByReference(wanted, networks);
    if (found.length === 1) return [];
    return [
      createProblem(
        found.length === 0
          ? `${path}: '${wanted}' is not an external network; ${formatExistingNames(networks.map((n) => n.name))}`
          : `${path}: ${formatSeveral("external networks", wanted, found)}`,
      ),
    ];
  });
}

const networkSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  project_id: z.string().optional(),
  port_security_enabled: z.boolean().optional(),
});

/** Existing networks that the user sees, and those that the specification names. */
export interface ExistingNetworks {
  readonly names: readonly string[];
  readonly found: readonly z.infer<typeof networkSchema>[];
}

/** Finds the existing network for the machines. Returns undefined if the program creates one. */
export async function findExistingNetworks(
  client: CloudClient,
  { network }: Pick<ClusterRequirements, "network">,
): Promise<ExistingNetworks | undefined> {
  if (network === undefined) return undefined;
  const schema = networkSchema;
  const all = await listAll(client, "network", "/networks", { key: "networks", schema });
  return { names: all.map(({ name }) => name), found: findByReference(network, all) };
}

/**
 * Reports what prevents the machines from using the existing network in the specification.
 *
 * @param project ID of the user's project
 */
export function checkNetwork(
  changes: MachineChanges,
  existing: ExistingNetworks | undefined,
  needs: ClusterRequirements,
  project: string,
): Finding[] {
  const { network: wanted = "", ownersOnly, suggestedPodNetworks } = needs;
  if (!existing) return [];
  const [only, ...more] = existing.found;
  const path = "network.existing.network";
  if (!only)
    return [
      createProblem(`${path}: '${wanted}' does not exist; ${formatExistingNames(existing.names)}`),
    ];
  if (more.length > 0)
    return [createProblem(`${path}: ${formatSeveral("networks", wanted, existing.found)}`)];
  const foreign = only.project_id !== undefined && only.project_id !== project;
  const unfiltered = needs.filtersPorts && only.port_security_enabled === false;
  return [
    ...(foreign && ownersOnly.length > 0
      ? [
          createWarning(
            `${path}: '${wanted}' belongs to another project, and Neutron refuses ports there, unless the cloud's operator allows them, for ${ownersOnly.join(", ")}; write others, like podNetwork ${suggestedPodNetworks.wrapped}, or ask the operator`,
          ),
        ]
      : []),
    ...checkEachMachine(changes, () =>
      unfiltered
        ? [
            `${path}: '${wanted}' has port_security_enabled false, so Neutron refuses ports with security groups; write network.portSecurity: false, or ask the owner of the network to enable port security`,
          ]
        : [],
    ),
  ];
}

/** Returns the elements. Returns undefined if the user cannot list them. */
async function listIfShown<T>(
  client: CloudClient,
  path: string,
  wanted: { readonly key: string; readonly schema: z.ZodType<T> },
): Promise<T[] | undefined> {
  try {
    return await listAll(client, "network", path, wanted);
  } catch (error) {
    if (isHiddenFromUser(error)) return undefined;
    throw error;
  }
}

/**
 * Reports extensions of Neutron that the cluster needs and the cloud does not have. Only a new
 * cluster needs this check.
 */
export async function checkExtensions(
  client: CloudClient,
  { extensions }: Pick<ClusterRequirements, "extensions">,
): Promise<Finding[]> {
  const schema = z.looseObject({ alias: z.string() });
  const found = await listIfShown(client, "/extensions", { key: "extensions", schema });
  if (!found) return [];
  const offered = new Set(found.map(({ alias }) => alias));
  return extensions
    .filter(({ aliases }) => !aliases.some((alias) => offered.has(alias)))
    .map(({ aliases: [alias], reason, instead }) =>
      createProblem(
        `${reason} (Neutron's extension ${alias}), which the cloud does not offer; ${instead}`,
      ),
    );
}

const subnetSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  cidr: z.string(),
  ip_version: z.number(),
  service_types: z.array(z.string()).nullish(),
});

/**
 * Returns whether Neutron takes floating IPs from the subnet. A subnet with service types is only
 * for these services.
 */
const givesFloatingIps = ({
  ip_version: version,
  service_types: types,
}: z.infer<typeof subnetSchema>): boolean =>
  version === 4 && (!types || types.length === 0 || types.includes("network:floatingip"));

/**
 * Warns about external networks with several IPv4 subnets, because Neutron chooses the subnet of
 * each new floating IP. Reports nothing if Neutron does not show the subnets to the user.
 */
export async function checkExternalSubnets(
  client: CloudClient,
  { externalNetworks }: Pick<ClusterRequirements, "externalNetworks">,
  networks: readonly ExternalNetwork[],
): Promise<Finding[]> {
  const checks = Object.entries(externalNetworks).map(async ([path, wanted]) => {
    const [network, ...more] = findByReference(wanted, networks);
    if (!network || more.length > 0) return [];
    const query = `/subnets?network_id=${encodeURIComponent(network.id)}`;
    const wantedSubnets = { key: "subnets", schema: subnetSchema };
    const all = (await listIfShown(client, query, wantedSubnets)) ?? [];
    const subnets = all.filter(givesFloatingIps);
    const list = subnets.map(({ id, name, cidr }) => `${name || id} (${cidr})`).join(", ");
    return subnets.length < 2
      ? []
      : [
          createWarning(
            `${path}: '${wanted}' has several IPv4 subnets, ${list}, and Neutron chooses one for each floating IP; if not all of them are reachable for you, request the floating IPs yourself and write them, like endpoint.floatingIp, and write loadBalancer.floatingSubnet for Services`,
          ),
        ];
  });
  return (await Promise.all(checks)).flat();
}
