import { z } from "zod";
import type { CloudClient } from "../client/cloud-client.js";
import { isDeniedByService, isHiddenFromUser } from "../http/cloud-error.js";
import { formatExistingNames, createProblem, createWarning, type Finding } from "./finding.js";
import { listAll } from "../client/paginate.js";
import type { ClusterRequirements } from "./cluster-requirements.js";
import { checkConfigDrive, checkDhcp, checkDockerHubPulls } from "./first-boot-warnings.js";
import { checkLoadBalancers } from "./octavia-check.js";
import { isUuid, findByReference } from "../client/name-or-id.js";
import { checkZones } from "./nova-and-cinder-zones.js";

const flavorSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  vcpus: z.number(),
  ram: z.number(),
  disk: z.number(),
});
export type Flavor = z.infer<typeof flavorSchema>;
const imageSchema = z.looseObject({
  id: z.string(),
  name: z.string().nullable(),
  status: z.string(),
  hw_machine_type: z.string().optional(),
  hw_cdrom_bus: z.string().optional(),
});
export type Image = z.infer<typeof imageSchema>;
const namedSchema = z.looseObject({ id: z.string(), name: z.string() });

/**
 * Flavors, images and external networks of the cloud. `externalNetworks` is empty if the
 * specification names no external network.
 */
export interface CloudOffer {
  readonly flavors: readonly Flavor[];
  readonly images: readonly Image[];
  readonly externalNetworks: readonly z.infer<typeof namedSchema>[];
}

export async function listOffer(
  client: CloudClient,
  { externalNetworks: wanted }: Pick<ClusterRequirements, "externalNetworks">,
): Promise<CloudOffer> {
  const [flavors, images, externalNetworks] = await Promise.all([
    listAll(client, "compute", "/flavors/detail", { key: "flavors", schema: flavorSchema }),
    listAll(client, "image", "/images?limit=500", { key: "images", schema: imageSchema }),
    Object.keys(wanted).length === 0
      ? []
      : listAll(client, "network", "/networks?router:external=true", {
          key: "networks",
          schema: namedSchema,
        }),
  ]);
  return { flavors, images, externalNetworks };
}

const several = (kind: string, name: string, found: readonly { readonly id: string }[]): string =>
  `${found.length} ${kind} are called '${name}' (${found.map(({ id }) => id).join(", ")}); write the ID of one`;

/**
 * Returns the image with this ID, or an empty list if no such image exists. Glance's lists leave
 * out hidden and community images, so this function requests the image by its ID.
 */
async function imageById(client: CloudClient, id: string): Promise<Image[]> {
  try {
    return [imageSchema.parse(await client.request("image", "GET", `/images/${id}`))];
  } catch (error) {
    if (!isDeniedByService(error)) throw error;
    return [];
  }
}

async function checkImage(
  client: CloudClient,
  wanted: string,
  images: readonly Image[],
): Promise<Finding[]> {
  const found = isUuid(wanted)
    ? await imageById(client, wanted)
    : images.filter(({ name }) => name === wanted);
  const active = found.filter(({ status }) => status === "active");
  if (active.length === 1) return [];
  if (active.length > 1) return [createProblem(`image: ${several("images", wanted, active)}`)];
  const [other] = found;
  return [
    createProblem(
      other
        ? `image: '${wanted}' is ${other.status}, not active; wait until it is, or write another`
        : `image: '${wanted}' does not exist; ${formatExistingNames(images.map(({ name }) => name))}`,
    ),
  ];
}

async function checkImages(
  client: CloudClient,
  needs: ClusterRequirements,
  { images }: CloudOffer,
): Promise<Finding[]> {
  const found = needs.images.map((wanted) => checkImage(client, wanted, images));
  return (await Promise.all(found)).flat();
}

/** Smallest size that kubeadm's preflight accepts for a control plane. RAM is in MiB. */
const smallest = { vcpus: 2, ram: 1700 };

function checkFlavors({ flavors }: CloudOffer, needs: ClusterRequirements): Finding[] {
  return Object.keys(needs.flavors).flatMap((wanted) => {
    const [found] = findByReference(wanted, flavors);
    if (!found)
      return [
        createProblem(
          `flavor: '${wanted}' does not exist; ${formatExistingNames(flavors.map((f) => f.name))}`,
        ),
      ];
    const failing = failingChecks(found);
    if (failing.length === 0 || !needs.nodeFlavors.includes(wanted)) return [];
    const has = `flavor: '${wanted}' has ${found.vcpus} vCPU and ${found.ram} MiB`;
    const refused = failing.filter((check) => needs.sizeChecks.includes(check));
    return needs.controlPlaneFlavors.includes(wanted) && refused.length > 0
      ? [
          createProblem(
            `${has}; kubeadm creates no control plane with less than ${smallest.vcpus} and ${smallest.ram}; write a larger flavor, or ${refused.join(" and ")} in kubernetes.ignorePreflightErrors`,
          ),
        ]
      : [createWarning(`${has}; kubeadm wants ${smallest.vcpus} and ${smallest.ram}`)];
  });
}

/**
 * Returns the size checks of kubeadm's preflight that fail for the flavor. Source: kubeadm's code,
 * cmd/kubeadm/app/preflight.
 */
const failingChecks = ({ vcpus, ram }: CloudOffer["flavors"][number]): ("NumCPU" | "Mem")[] => [
  ...(vcpus < smallest.vcpus ? (["NumCPU"] as const) : []),
  ...(ram < smallest.ram ? (["Mem"] as const) : []),
];

function checkExternalNetworks(
  { externalNetworks: networks }: CloudOffer,
  { externalNetworks }: ClusterRequirements,
): Finding[] {
  return Object.entries(externalNetworks).flatMap(([path, wanted]) => {
    const found = findByReference(wanted, networks);
    if (found.length === 1) return [];
    return [
      createProblem(
        found.length === 0
          ? `${path}: '${wanted}' is not an external network; ${formatExistingNames(networks.map((n) => n.name))}`
          : `${path}: ${several("external networks", wanted, found)}`,
      ),
    ];
  });
}

function withoutBlockStorage({ volumeTypes, counts }: ClusterRequirements): Finding[] {
  const none = "the cloud offers no block storage";
  return [
    ...(volumeTypes.length > 0 ? [createProblem(`storageClasses: ${none}; set them to []`)] : []),
    ...(counts.volumes > 0
      ? [createProblem(`volumes: ${none}; leave the volumes of machines out, and samples false`)]
      : []),
  ];
}

const networkSchema = namedSchema.extend({ project_id: z.string().optional() });

async function checkNetwork(client: CloudClient, needs: ClusterRequirements): Promise<Finding[]> {
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
        : `network.existing.network: ${several("networks", wanted, found)}`,
    ),
  ];
}

async function checkRoutes(client: CloudClient, needs: ClusterRequirements): Promise<Finding[]> {
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

async function typesShown(
  client: CloudClient,
): Promise<readonly z.infer<typeof namedSchema>[] | undefined> {
  const wanted = { key: "volume_types", schema: namedSchema };
  try {
    return await listAll(client, "volumev3", "/types", wanted);
  } catch (error) {
    if (!isHiddenFromUser(error)) throw error;
    return undefined;
  }
}

async function checkVolumeTypes(
  client: CloudClient,
  needs: ClusterRequirements,
): Promise<Finding[]> {
  if (!client.offers("volumev3")) return withoutBlockStorage(needs);
  if (needs.volumeTypes.length === 0) return [];
  const types = await typesShown(client);
  if (!types)
    return [
      createWarning(
        `volume types: cannot check ${needs.volumeTypes.join(", ")}: Cinder does not list its types to you`,
      ),
    ];
  return needs.volumeTypes
    .filter((wanted) => findByReference(wanted, types).length === 0)
    .map((wanted) =>
      createProblem(
        `volume type: '${wanted}' does not exist; ${formatExistingNames(types.map((t) => t.name))}`,
      ),
    );
}

/**
 * Reports a problem if the load balancers need a certificate but the cloud has no Barbican. The
 * cloud controller reads the certificate from Barbican before it configures Octavia.
 */
const checkKeyManager = (client: CloudClient, { certificate }: ClusterRequirements): Finding[] =>
  certificate === undefined || client.offers("key-manager")
    ? []
    : [
        createProblem(
          `${certificate}: the cloud offers no key-manager service; leave it out, or set loadBalancer.containerStore to external if Octavia reads certificates elsewhere`,
        ),
      ];

/** Reports everything in the specification that the cloud does not offer. */
export async function checkOffer(
  client: CloudClient,
  needs: ClusterRequirements,
  offer: CloudOffer,
): Promise<Finding[]> {
  const findings = await Promise.all([
    checkLoadBalancers(client, needs),
    Promise.resolve(checkKeyManager(client, needs)),
    checkImages(client, needs, offer),
    Promise.resolve(checkConfigDrive(needs, offer)),
    Promise.resolve(checkDockerHubPulls(needs)),
    Promise.resolve(checkFlavors(offer, needs)),
    Promise.resolve(checkExternalNetworks(offer, needs)),
    checkNetwork(client, needs),
    checkRoutes(client, needs),
    checkZones(client, needs),
    checkVolumeTypes(client, needs),
  ]);
  return findings.flat();
}
