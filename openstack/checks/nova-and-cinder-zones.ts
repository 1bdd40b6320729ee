import { z } from "zod";
import type { CloudClient } from "../client/cloud-client.js";
import { isHiddenFromUser } from "../http/cloud-error.js";
import { formatExistingNames, createProblem, createWarning, type Finding } from "./finding.js";
import { listAll } from "../client/paginate.js";
import type { ClusterRequirements } from "./cluster-requirements.js";

const zoneSchema = z.looseObject({
  zoneName: z.string(),
  zoneState: z.object({ available: z.boolean() }),
});

/** Available zones of Nova or Cinder. `hidden`: the user cannot list the zones. */
export type AvailabilityZones = readonly string[] | "hidden";

async function openZones(
  client: CloudClient,
  service: "compute" | "volumev3",
): Promise<AvailabilityZones> {
  const schema = zoneSchema;
  const wanted = { key: "availabilityZoneInfo", schema };
  try {
    const zones = await listAll(client, service, "/os-availability-zone", wanted);
    return zones.filter(({ zoneState }) => zoneState.available).map(({ zoneName }) => zoneName);
  } catch (error) {
    if (!isHiddenFromUser(error)) throw error;
    return "hidden";
  }
}

const unknown = (what: string, service: string, zones: readonly string[]): Finding =>
  createWarning(
    `${what}: cannot check ${zones.join(", ")}: ${service} does not list its zones to you`,
  );

/**
 * Reports zones in the specification that Nova does not have or that are not available. Checks the
 * zones of machines and the zones of pods in storage classes.
 */
export async function checkZones(
  client: CloudClient,
  { zones, podZones }: ClusterRequirements,
): Promise<Finding[]> {
  if (zones.length + podZones.length === 0) return [];
  const open = await openZones(client, "compute");
  if (open === "hidden") return [unknown("zones", "Nova", [...new Set([...zones, ...podZones])])];
  const missing = (path: string, wanted: readonly string[]): Finding[] =>
    wanted
      .filter((one) => !open.includes(one))
      .map((one) =>
        createProblem(
          `${path}: '${one}' does not exist or is closed; ${formatExistingNames(open)}`,
        ),
      );
  return [...missing("zone", zones), ...missing("storageClasses.zones", podZones)];
}

type VolumeNeeds = Pick<
  ClusterRequirements,
  "zones" | "volumeZones" | "volumesFollowZones" | "unplacedVolumes"
>;

const zonesOf = (volumes: ClusterRequirements["unplacedVolumes"]): readonly string[] => [
  ...new Set(volumes.map(({ zone }) => zone)),
];

/**
 * Returns the Nova zones that must also exist in Cinder, because volumes are created in the zones
 * of their machines.
 */
const zonesOfMachineVolumes = ({ volumesFollowZones, zones }: VolumeNeeds): readonly string[] =>
  volumesFollowZones ? zones : [];

/**
 * Returns the zones of Cinder. Returns undefined if the cluster needs no zones or the cloud has no
 * Cinder.
 */
export async function listVolumeZones(
  client: CloudClient,
  needs: VolumeNeeds,
): Promise<AvailabilityZones | undefined> {
  const severally = zonesOf(needs.unplacedVolumes).length > 1;
  const asked = needs.volumeZones.length + zonesOfMachineVolumes(needs).length > 0 || severally;
  return asked && client.offers("volumev3") ? openZones(client, "volumev3") : undefined;
}

/**
 * Warns if machines in several zones have volumes without a zone. Cinder would create all these
 * volumes in one zone.
 */
function warnOfVolumesWithoutZone(
  { unplacedVolumes }: VolumeNeeds,
  there: readonly string[],
  existingVolumes: ReadonlySet<string>,
): Finding[] {
  const free = unplacedVolumes.filter(({ name }) => !existingVolumes.has(name));
  const zones = zonesOf(free);
  if (zones.length < 2 || zones.some((zone) => !there.includes(zone))) return [];
  const paths = [...new Set(free.map(({ path }) => path))].join(", ");
  return [
    createWarning(
      `volumes: machines are in ${zones.join(", ")}, and Cinder creates all of ${paths} in one zone that it chooses: if that zone fails, all of these machines fail, and some clouds attach no volume of another zone; write zone: "{zone}" there for the zone of each machine`,
    ),
  ];
}

/**
 * Reports zones of storage classes and volumes that do not exist in Cinder. Warns about zones of
 * machines that do not exist in Cinder, if volumes are created in the machines' zones. Warns about
 * new volumes without a zone if their machines are in several zones.
 *
 * @param existingVolumes names of existing volumes
 */
export function checkVolumeZones(
  needs: VolumeNeeds,
  there: AvailabilityZones | undefined,
  existingVolumes: ReadonlySet<string>,
): Finding[] {
  if (there === undefined) return [];
  if (there === "hidden")
    return needs.volumeZones.length === 0 ? [] : [unknown("volumes", "Cinder", needs.volumeZones)];
  const strange = zonesOfMachineVolumes(needs).filter((zone) => !there.includes(zone));
  return [
    ...needs.volumeZones
      .filter((zone) => !there.includes(zone))
      .map((zone) =>
        createProblem(
          `volumes: Cinder has no zone '${zone}', or it is closed; ${formatExistingNames(there)}`,
        ),
      ),
    ...(strange.length > 0
      ? [
          createWarning(
            `storageClasses: machines are in ${strange.join(", ")}, which are not zones of Cinder (${there.join(", ")}): volumes could not be created; set blockStorage.topology to false`,
          ),
        ]
      : []),
    ...warnOfVolumesWithoutZone(needs, there, existingVolumes),
  ];
}
