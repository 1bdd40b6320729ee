import type { CloudClient } from "../client/cloud-client.js";
import { z } from "zod";
import { createWarning, type Finding } from "./finding.js";
import { listAll } from "../client/paginate.js";
import type { ClusterRequirements, MachineRequirement } from "./cluster-requirements.js";
import type { Image, CloudOffer } from "./cloud-offer.js";
import { findByReference } from "../client/name-or-id.js";

/*
 * Warnings about settings that OpenStack accepts, but with which the first boot of a machine may
 * fail.
 */

/**
 * Number of nodes that may pull images through one public address. Without a login, Docker Hub
 * allows 100 pulls in 6 hours from each address. The limit here is lower, because other clients
 * behind the same router also pull images.
 */
const pullsOfOneAddress = 80;

/**
 * Warns if the nodes together may exceed Docker Hub's pull limit. The limit applies to the public
 * address of the nodes' router.
 */
export const checkDockerHubPulls = ({
  dockerHub,
}: Pick<ClusterRequirements, "dockerHub">): Finding[] =>
  dockerHub === undefined || dockerHub.nodes <= pullsOfOneAddress || dockerHub.images.length === 0
    ? []
    : [
        createWarning(
          `registry: ${dockerHub.nodes} nodes each pull ${dockerHub.images.join(", ")}; without a login, Docker Hub refuses an address, and so all nodes behind one router, after 100 pulls in 6 hours; write a mirror, or user and password, in kubernetes.registries["docker.io"]`,
        ),
      ];

const genericCloud12 = /(debian[-_ ]?12|bookworm).*genericcloud|genericcloud.*bookworm/i;

/**
 * Pattern of image names that exclude the cloud kernel of Debian 12: names of other operating
 * systems and of other kernels.
 */
const otherKernel = /ubuntu|jammy|noble|resolute|trixie|debian[-_ ]?1[3-9]|[-_ ]generic(?![a-z])/i;

/**
 * Returns whether machines of the image have the machine type q35 and a kernel without a SATA
 * driver. `possible`: the image has no machine type, so Nova's default decides.
 */
const q35 = ({ name, hw_machine_type: type = "" }: Image): "certain" | "possible" | "no" => {
  if (otherKernel.test(name ?? "")) return "no";
  if (/q35/i.test(type)) return "certain";
  return type === "" && genericCloud12.test(name ?? "") ? "possible" : "no";
};

/** Returns why machines of the image may be unable to read the config drive. */
function findUnreadableDrive(image: Image): string[] {
  const found = q35(image);
  if (found === "no" || (image.hw_cdrom_bus ?? "sata") !== "sata") return [];
  const what =
    found === "certain"
      ? `has the machine type ${image.hw_machine_type ?? ""}, on which`
      : "has no hw_machine_type, and where Nova's default is q35,";
  return [
    `${what} the genericcloud kernel of Debian 12 cannot read the config drive; then no machine answers unless its network has the metadata service; set hw_cdrom_bus=scsi and hw_scsi_model=virtio-scsi on the image, or choose Debian's image generic`,
  ];
}

/**
 * Warns about images whose machines may be unable to read the config drive. On q35, Nova attaches
 * the config drive to a SATA bus, but Debian 12's cloud kernel has no SATA driver.
 */
export function checkConfigDrive(
  machines: readonly Pick<MachineRequirement, "image" | "paths">[],
  { images }: Pick<CloudOffer, "images">,
): Finding[] {
  const texts = machines.flatMap(({ image, paths }) =>
    findByReference(image, images)
      .flatMap(findUnreadableDrive)
      .map((text) => `${paths.image}: '${image}' ${text}`),
  );
  return [...new Set(texts)].map(createWarning);
}

const subnetSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  cidr: z.string(),
  enable_dhcp: z.boolean().optional(),
});

/**
 * Warns about a subnet without DHCP. Debian's images get their addresses only by DHCP, even if the
 * machine has a config drive.
 */
export async function checkDhcp(
  client: CloudClient,
  { subnet: wanted }: Pick<ClusterRequirements, "subnet">,
  networkId: string,
): Promise<Finding[]> {
  if (wanted === undefined) return [];
  const path = `/subnets?network_id=${encodeURIComponent(networkId)}`;
  const all = await listAll(client, "network", path, { key: "subnets", schema: subnetSchema });
  const found =
    wanted.reference === undefined
      ? all.filter(({ cidr }) => cidr === wanted.range)
      : findByReference(wanted.reference, all);
  return found
    .filter(({ enable_dhcp: dhcp }) => dhcp === false)
    .map(({ id, name }) =>
      createWarning(
        `network.existing: the subnet '${name || id}' has no DHCP, and Debian's genericcloud images get an address by DHCP only, so no machine would answer; enable DHCP with \`openstack subnet set --dhcp ${id}\`, or choose an image that configures itself from the config drive`,
      ),
    );
}
