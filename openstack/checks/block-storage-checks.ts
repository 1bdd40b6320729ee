import { z } from "zod";
import {
  defaultOpenstackPlugin,
  requiresVolumev3,
} from "../../base/versions/pulumi-openstack-versions.js";
import type { CloudClient } from "../client/cloud-client.js";
import { findByReference } from "../client/name-or-id.js";
import { listAll } from "../client/paginate.js";
import { isHiddenFromUser } from "../http/cloud-error.js";
import type { ClusterRequirements } from "./cluster-requirements.js";
import { createProblem, createWarning, formatExistingNames, type Finding } from "./finding.js";
import { checkEachMachine, type MachineChanges } from "./machine-changes.js";

const typeSchema = z.looseObject({ id: z.string(), name: z.string() });

/** Types of volumes. `hidden`: the user cannot list the types. */
export type VolumeTypes = readonly z.infer<typeof typeSchema>[] | "hidden";

type TypeNeeds = Pick<ClusterRequirements, "volumeTypes" | "machines">;

/** Returns the types in storage classes and of the machines' volumes, without duplicates. */
const listWantedTypes = ({ volumeTypes, machines }: TypeNeeds): string[] => [
  ...new Set([
    ...volumeTypes,
    ...machines.flatMap(({ volumes }) => volumes.flatMap(({ type }) => type ?? [])),
  ]),
];

/** Lists the types of volumes. Returns undefined if the specification names no type. */
export async function listVolumeTypes(
  client: CloudClient,
  needs: TypeNeeds,
): Promise<VolumeTypes | undefined> {
  if (!client.offers("volumev3") || listWantedTypes(needs).length === 0) return undefined;
  try {
    const wanted = { key: "volume_types", schema: typeSchema };
    return await listAll(client, "volumev3", "/types", wanted);
  } catch (error) {
    if (!isHiddenFromUser(error)) throw error;
    return "hidden";
  }
}

/** Reports a missing block storage service that the cluster needs. */
export function checkBlockStorage(
  client: CloudClient,
  { volumeTypes, counts }: ClusterRequirements,
): Finding[] {
  if (client.offers("volumev3")) return [];
  const none = "the cloud offers no block storage";
  return [
    ...(volumeTypes.length > 0 ? [createProblem(`storageClasses: ${none}; set them to []`)] : []),
    ...(counts.volumes > 0
      ? [createProblem(`volumes: ${none}; leave the volumes of machines out, and samples false`)]
      : []),
  ];
}

/**
 * Reports that the OpenStack plugin does not find block storage in the catalog, although the cloud
 * offers it under another name.
 */
export function checkPluginFindsVolumes(
  changes: MachineChanges,
  client: CloudClient,
  { openstackPlugin }: Pick<ClusterRequirements, "openstackPlugin">,
): Finding[] {
  const isFound = client.offers("volumev3", "volumev3") || !requiresVolumev3(openstackPlugin);
  if (isFound || !client.offers("volumev3")) return [];
  return checkEachMachine(changes, ({ volumes }) =>
    volumes.map(
      ({ path }) =>
        `openstackPlugin: version ${openstackPlugin} looks for block storage only as volumev3, which is not in the cloud's catalog; write ${defaultOpenstackPlugin}, or leave ${path} out`,
    ),
  );
}

/** Reports volume types in the specification that do not exist. */
export function checkVolumeTypes(
  changes: MachineChanges,
  types: VolumeTypes | undefined,
  needs: TypeNeeds,
): Finding[] {
  if (types === undefined) return [];
  if (types === "hidden")
    return [
      createWarning(
        `volume types: cannot check ${listWantedTypes(needs).join(", ")}: Cinder does not list its types to you`,
      ),
    ];
  const problemsOf = (path: string, wanted: string | undefined): string[] =>
    wanted === undefined || findByReference(wanted, types).length > 0
      ? []
      : [`${path}: '${wanted}' does not exist; ${formatExistingNames(types.map((t) => t.name))}`];
  return [
    ...needs.volumeTypes
      .flatMap((type) => problemsOf("storageClasses.type", type))
      .map(createProblem),
    ...checkEachMachine(changes, ({ volumes }) =>
      volumes.flatMap(({ path, type }) => problemsOf(`${path}.type`, type)),
    ),
  ];
}
