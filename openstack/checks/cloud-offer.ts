import { z } from "zod";
import type { CloudClient } from "../client/cloud-client.js";
import { isUuid } from "../client/name-or-id.js";
import { listAll } from "../client/paginate.js";
import { isDeniedByService } from "../http/cloud-error.js";
import type { ClusterRequirements } from "./cluster-requirements.js";
import { listVolumeTypes, type VolumeTypes } from "./block-storage-checks.js";
import {
  listComputeZones,
  listVolumeZones,
  type AvailabilityZones,
} from "./nova-and-cinder-zones.js";

const flavorSchema = z.looseObject({
  id: z.string(),
  name: z.string(),
  vcpus: z.number(),
  /** Memory in MiB. */
  ram: z.number(),
  /** Root disk in GiB. 0: machines of the flavor boot from a volume. */
  disk: z.number(),
});
export type Flavor = z.infer<typeof flavorSchema>;
const imageSchema = z.looseObject({
  id: z.string(),
  name: z.string().nullable(),
  status: z.string(),
  /** Smallest root disk in GiB, and smallest memory in MiB. */
  min_disk: z.number().optional(),
  min_ram: z.number().optional(),
  hw_machine_type: z.string().optional(),
  hw_cdrom_bus: z.string().optional(),
});
export type Image = z.infer<typeof imageSchema>;
const networkSchema = z.looseObject({ id: z.string(), name: z.string() });
export type ExternalNetwork = z.infer<typeof networkSchema>;

/** Everything that the cloud offers and that the preflight compares with the specification. */
export interface CloudOffer {
  readonly flavors: readonly Flavor[];
  /** Images that Glance lists, and the images whose IDs are in the specification. */
  readonly images: readonly Image[];
  /** External networks. Empty if the specification names no external network. */
  readonly externalNetworks: readonly ExternalNetwork[];
  /** Types of volumes. Undefined: the specification names no type. */
  readonly volumeTypes: VolumeTypes | undefined;
  /** Zones of Nova. Undefined: the specification names no zone. */
  readonly zones: AvailabilityZones | undefined;
  /** Zones of Cinder. Undefined: the cluster needs no zone of Cinder. */
  readonly volumeZones: AvailabilityZones | undefined;
}

/** Requirements that determine which offers of the cloud are listed. */
type OfferNeeds = Pick<
  ClusterRequirements,
  | "machines"
  | "externalNetworks"
  | "volumeTypes"
  | "spareZones"
  | "podZones"
  | "volumeZones"
  | "volumesFollowZones"
>;

/** Requests everything that the cloud offers for the specification, at the same time. */
export async function listOffer(client: CloudClient, needs: OfferNeeds): Promise<CloudOffer> {
  const [flavors, images, externalNetworks, volumeTypes, zones, volumeZones] = await Promise.all([
    listAll(client, "compute", "/flavors/detail", { key: "flavors", schema: flavorSchema }),
    listImages(client, needs),
    Object.keys(needs.externalNetworks).length === 0
      ? []
      : listAll(client, "network", "/networks?router:external=true", {
          key: "networks",
          schema: networkSchema,
        }),
    listVolumeTypes(client, needs),
    listComputeZones(client, needs),
    listVolumeZones(client, needs),
  ]);
  return { flavors, images, externalNetworks, volumeTypes, zones, volumeZones };
}

async function listImages(
  client: CloudClient,
  { machines }: Pick<OfferNeeds, "machines">,
): Promise<Image[]> {
  const ids = [...new Set(machines.map(({ image }) => image).filter(isUuid))];
  const [listed, ...asked] = await Promise.all([
    listAll(client, "image", "/images?limit=500", { key: "images", schema: imageSchema }),
    ...ids.map((id) => imageById(client, id)),
  ]);
  return [...listed.filter(({ id }) => !ids.includes(id)), ...asked.flat()];
}

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
