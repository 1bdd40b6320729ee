import { z } from "zod";
import type { CloudClient } from "../client/cloud-client.js";
import { findByReference } from "../client/name-or-id.js";
import { listAll } from "../client/paginate.js";
import type { ExternalNetwork } from "./cloud-offer.js";
import type { ClusterRequirements } from "./cluster-requirements.js";
import {
  createProblem,
  createWarning,
  formatExistingNames,
  formatSeveral,
  type Finding,
} from "./finding.js";
import { checkDhcp } from "./first-boot-warnings.js";

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
});

/** Reports what prevents the machines from using the existing network in the specification. */
export async function checkNetwork(
  client: CloudClient,
  needs: ClusterRequirements,
): Promise<Finding[]> {
  const { network: wanted, ownersOnly, suggestedPodNetworks } = needs;
  if (wanted === undefined) return [];
  const schema = networkSchema;
  const networks = await listAll(client, "network", "/networks", { key: "networks", schema });
  const found = findByReference(wanted, networks);
  const [only, ...more] = found;
  if (only && more.length === 0) {
    const { project_id: owner } = only;
    const foreign = owner !== undefined && owner !== client.projectId;
    const rights =
      foreign && ownersOnly.length > 0
        ? [
            createWarning(
              `network.existing.network: '${wanted}' belongs to another project, and Neutron refuses ports there, unless the cloud's operator allows them, for ${ownersOnly.join(", ")}; write others, like podNetwork ${suggestedPodNetworks.wrapped}, or ask the operator`,
            ),
          ]
        : [];
    return [...rights, ...(await checkDhcp(client, needs, only.id))];
  }
  return [
    createProblem(
      found.length === 0
        ? `network.existing.network: '${wanted}' does not exist; ${formatExistingNames(networks.map((n) => n.name))}`
        : `network.existing.network: ${formatSeveral("networks", wanted, found)}`,
    ),
  ];
}

/** Reports if the cloud's routers cannot have the routes that the pod network needs. */
export async function checkRoutes(
  client: CloudClient,
  needs: ClusterRequirements,
): Promise<Finding[]> {
  if (needs.routes === undefined) return [];
  const schema = z.looseObject({ alias: z.string() });
  const found = await listAll(client, "network", "/extensions", { key: "extensions", schema });
  return found.some(({ alias }) => alias === "extraroute" || alias === "extraroute-atomic")
    ? []
    : [
        createProblem(
          `podNetwork: ${needs.routes} needs routers with static routes (Neutron's extension extraroute), which the cloud does not offer; write another pod network, such as ${needs.suggestedPodNetworks.usual}`,
        ),
      ];
}
