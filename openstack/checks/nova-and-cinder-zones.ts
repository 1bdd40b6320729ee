import { z } from "zod";
import type { CloudClient } from "../client/cloud-client.js";
import { isHiddenFromUser } from "../http/cloud-error.js";
import { formatExistingNames, createProblem, createWarning, type Finding } from "./finding.js";
import { listAll } from "../client/paginate.js";
import type { ClusterRequirements, MachineRequirement } from "./cluster-requirements.js";
import { checkEachMachine, type MachineChanges } from "./machine-changes.js";

const zoneSchema = z.looseObject({
  zoneName: z.string(),
  zoneState: z.object({ available: z.boolean() }),
});

/**
 * Zones of Nova or Cinder. In a zone that is not available, nothing can be created. `hidden`: the
 * user cannot list the zones.
 */
export type AvailabilityZones =
  readonly { readonly name: string; readonly available: boolean }[] | "hidden";
type Listed = Exclude<AvailabilityZones, "hidden">;

async function listZones(
  client: CloudClient,
  service: "compute" | "volumev3",
): Promise<AvailabilityZones> {
  const schema = zoneSchema;
  const wanted = { key: "availabilityZoneInfo", schema };
  try {
    const zones = await listAll(client, service, "/os-availability-zone", wanted);
    return zones.map(({ zoneName: name, zoneState: { available } }) => ({ name, available }));
  } catch (error) {
    if (!isHiddenFromUser(error)) throw error;
    return "hidden";
  }
}

const unknown = (what: string, service: string, zones: readonly string[]): Finding =>
  createWarning(
    `${what}: cannot check ${zones.join(", ")}: ${service} does not list its zones to you`,
  );

const unique = (zones: readonly (string | undefined)[]): string[] => [
  ...new Set(zones.flatMap((zone) => zone ?? [])),
];

/** Reason why nothing can be created in a zone. The text contains the available zones. */
interface ZoneProblem {
  readonly reason: "missing" | "closed";
  readonly text: string;
}

/**
 * Returns why nothing can be created in the zone. Returns an empty list if the zone is available or
 * undefined.
 */
function findZoneProblems(
  zone: string | undefined,
  zones: Listed,
  service: "Nova" | "Cinder",
): ZoneProblem[] {
  const found = zones.find(({ name }) => name === zone);
  if (zone === undefined || found?.available === true) return [];
  const open = formatExistingNames(
    zones.filter(({ available }) => available).map(({ name }) => name),
  );
  return [
    found
      ? { reason: "closed", text: `${service} reports that '${zone}' is not available; ${open}` }
      : { reason: "missing", text: `${service} has no zone '${zone}'; ${open}` },
  ];
}

type ZoneNeeds = Pick<ClusterRequirements, "machines" | "spareZones" | "podZones">;

/** Returns the zones of the machines and of the setting `zones`. */
const listMachineZones = ({ machines, spareZones }: Omit<ZoneNeeds, "podZones">): string[] =>
  unique([...spareZones, ...machines.map(({ zone }) => zone)]);

/** Lists the zones of Nova. Returns undefined if the specification names no zone. */
export async function listComputeZones(
  client: CloudClient,
  needs: ZoneNeeds,
): Promise<AvailabilityZones | undefined> {
  const asked = listMachineZones(needs).length + needs.podZones.length > 0;
  return asked ? listZones(client, "compute") : undefined;
}

/**
 * Reports a zone of storage classes. A zone that is not available at present is only a warning,
 * because the classes exist independently of it.
 */
const checkClassZone = (path: string, { reason, text }: ZoneProblem): Finding =>
  (reason === "missing" ? createProblem : createWarning)(`${path}: ${text}`);

/**
 * Reports zones in the specification that Nova does not have or that are not available. Checks the
 * zones of machines, of the setting `zones`, and of pods in storage classes.
 */
export function checkZones(
  changes: MachineChanges,
  zones: AvailabilityZones | undefined,
  needs: ZoneNeeds,
): Finding[] {
  if (zones === undefined) return [];
  if (zones === "hidden")
    return [unknown("zones", "Nova", unique([...listMachineZones(needs), ...needs.podZones]))];
  const find = (zone: string | undefined): ZoneProblem[] => findZoneProblems(zone, zones, "Nova");
  return [
    ...checkEachMachine(changes, ({ zone, paths }) =>
      find(zone).map(({ text }) => `${paths.zone}: ${text}`),
    ),
    ...needs.spareZones.flatMap((zone) =>
      find(zone).map(({ text }) => createWarning(`zones: ${text}; no machine is planned there`)),
    ),
    ...needs.podZones.flatMap((zone) =>
      find(zone).map((found) => checkClassZone("storageClasses.zones", found)),
    ),
  ];
}

type VolumeNeeds = Pick<
  ClusterRequirements,
  "machines" | "spareZones" | "volumeZones" | "volumesFollowZones"
>;

/** Volume without a zone in the specification, of a machine with a zone. */
interface UnplacedVolume {
  readonly path: string;
  readonly name: string;
  /** Zone of the machine. */
  readonly zone: string;
}

const listUnplacedVolumes = (machines: readonly MachineRequirement[]): UnplacedVolume[] =>
  machines.flatMap(({ zone, volumes }) =>
    zone === undefined
      ? []
      : volumes
          .filter((volume) => volume.zone === undefined)
          .map(({ path, name }) => ({ path, name, zone })),
  );

/**
 * Returns the Nova zones that must also exist in Cinder, because volumes are created in the zones
 * of their machines.
 */
const zonesOfMachineVolumes = (needs: VolumeNeeds): readonly string[] =>
  needs.volumesFollowZones ? listMachineZones(needs) : [];

/** Returns the Cinder zones in the specification. */
const listWrittenVolumeZones = ({ volumeZones, machines }: VolumeNeeds): string[] =>
  unique([...volumeZones, ...machines.flatMap(({ volumes }) => volumes.map(({ zone }) => zone))]);

/**
 * Returns the zones of Cinder. Returns undefined if the cluster needs no zones or the cloud has no
 * Cinder.
 */
export async function listVolumeZones(
  client: CloudClient,
  needs: VolumeNeeds,
): Promise<AvailabilityZones | undefined> {
  const severally = unique(listUnplacedVolumes(needs.machines).map(({ zone }) => zone)).length > 1;
  const named = listWrittenVolumeZones(needs).length + zonesOfMachineVolumes(needs).length > 0;
  return (named || severally) && client.offers("volumev3")
    ? listZones(client, "volumev3")
    : undefined;
}

/**
 * Warns if machines in several zones have volumes without a zone. Cinder would create all these
 * volumes in one zone.
 */
function warnOfVolumesWithoutZone(
  { machines }: VolumeNeeds,
  there: readonly string[],
  existingVolumes: ReadonlySet<string>,
): Finding[] {
  const free = listUnplacedVolumes(machines).filter(({ name }) => !existingVolumes.has(name));
  const zones = unique(free.map(({ zone }) => zone));
  if (zones.length < 2 || zones.some((zone) => !there.includes(zone))) return [];
  const paths = unique(free.map(({ path }) => path)).join(", ");
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
  changes: MachineChanges,
  zones: AvailabilityZones | undefined,
  needs: VolumeNeeds,
  existingVolumes: ReadonlySet<string>,
): Finding[] {
  if (zones === undefined) return [];
  const written = listWrittenVolumeZones(needs);
  if (zones === "hidden")
    return written.length === 0 ? [] : [unknown("volumes", "Cinder", written)];
  const find = (zone: string | undefined): ZoneProblem[] => findZoneProblems(zone, zones, "Cinder");
  const there = zones.filter(({ available }) => available).map(({ name }) => name);
  const known = zones.map(({ name }) => name);
  const strange = zonesOfMachineVolumes(needs).filter((zone) => !known.includes(zone));
  return [
    ...checkEachMachine(changes, ({ volumes }) =>
      volumes.flatMap(({ path, zone }) => find(zone).map(({ text }) => `${path}.zone: ${text}`)),
    ),
    ...needs.volumeZones.flatMap((zone) =>
      find(zone).map((found) => checkClassZone("storageClasses.availability", found)),
    ),
    ...(strange.length > 0
      ? [
          createWarning(
            `storageClasses: machines are in ${strange.join(", ")}, which are not zones of Cinder (${known.join(", ")}): volumes could not be created; set blockStorage.topology to false`,
          ),
        ]
      : []),
    ...warnOfVolumesWithoutZone(needs, there, existingVolumes),
  ];
}
