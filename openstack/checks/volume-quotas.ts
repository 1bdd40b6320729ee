import { z } from "zod";
import type { CloudClient } from "../client/cloud-client.js";
import { findByReference } from "../client/name-or-id.js";
import { isHiddenFromUser } from "../http/cloud-error.js";
import type { VolumeTypes } from "./block-storage-checks.js";
import type { VolumeRequirement } from "./cluster-requirements.js";
import { findQuotaProblems, type Quota } from "./quotas.js";

/*
 * Quotas of Cinder that its list of limits does not contain: for one volume, and for each type of
 * volumes. Requested only if the cluster needs new volumes.
 */

const usageSchema = z
  .object({ limit: z.number(), in_use: z.number(), reserved: z.number().default(0) })
  .transform(({ limit, in_use: used, reserved }): Quota => ({ limit, used: used + reserved }));
const quotaSetSchema = z.object({ quota_set: z.record(z.string(), z.unknown()) });
const defaultTypeSchema = z.object({ volume_type: z.looseObject({ name: z.string() }) });

/** Quotas of Cinder, by their names in Cinder, and the default type of volumes. */
export interface VolumeQuotas {
  readonly quotas: Readonly<Record<string, Quota>>;
  /** Name of Cinder's default type. Undefined: unknown. */
  readonly defaultType: string | undefined;
}

/**
 * Returns the answer. Returns undefined if the user may not send the request, or if the answer has
 * another form.
 */
async function requestIfShown<T>(
  client: CloudClient,
  path: string,
  schema: z.ZodType<T>,
): Promise<T | undefined> {
  try {
    return schema.safeParse(await client.request("volumev3", "GET", path)).data;
  } catch (error) {
    if (isHiddenFromUser(error)) return undefined;
    throw error;
  }
}

/**
 * Reads the quotas for the volumes. Returns undefined if no volume is created, or if the user
 * cannot read the quotas.
 */
export async function readVolumeQuotas(
  client: CloudClient,
  created: readonly VolumeRequirement[],
): Promise<VolumeQuotas | undefined> {
  if (created.length === 0 || !client.offers("volumev3")) return undefined;
  const needsDefault = created.some(({ type }) => type === undefined);
  const [found, byDefault] = await Promise.all([
    requestIfShown(client, `/os-quota-sets/${client.projectId}?usage=true`, quotaSetSchema),
    needsDefault ? requestIfShown(client, "/types/default", defaultTypeSchema) : undefined,
  ]);
  if (!found) return undefined;
  const quotas = Object.entries(found.quota_set).flatMap(([name, value]) => {
    const quota = usageSchema.safeParse(value);
    return quota.success ? [[name, quota.data] as const] : [];
  });
  return { quotas: Object.fromEntries(quotas), defaultType: byDefault?.volume_type.name };
}

/** Volumes of one type that are created. */
interface TypeNeeds {
  readonly paths: Set<string>;
  volumes: number;
  gigabytes: number;
}

function sumByType(
  created: readonly VolumeRequirement[],
  nameOf: (volume: VolumeRequirement) => string | undefined,
): Map<string, TypeNeeds> {
  const sums = new Map<string, TypeNeeds>();
  for (const volume of created) {
    const name = nameOf(volume);
    if (name === undefined) continue;
    const sum = sums.get(name) ?? { paths: new Set(), volumes: 0, gigabytes: 0 };
    sums.set(name, sum);
    sum.paths.add(volume.path);
    sum.volumes += 1;
    sum.gigabytes += volume.size;
  }
  return sums;
}

/**
 * Returns why Cinder refuses the volumes, although the quotas of all types together suffice.
 *
 * @param types types that the cloud has. Undefined: the specification names no type
 */
export function findVolumeQuotaProblems(
  created: readonly VolumeRequirement[],
  found: VolumeQuotas | undefined,
  types: VolumeTypes | undefined,
): string[] {
  if (!found) return [];
  const { quotas, defaultType } = found;
  const listed = types === "hidden" ? [] : (types ?? []);
  // Cinder names its quotas by the names of types, but the settings may contain IDs.
  const nameOf = ({ type }: VolumeRequirement): string | undefined =>
    type === undefined ? defaultType : (findByReference(type, listed)[0]?.name ?? type);
  const most = quotas["per_volume_gigabytes"]?.limit ?? -1;
  const tooLarge = created
    .filter(({ size }) => most >= 0 && size > most)
    .map(
      ({ path, size }) =>
        `${path}.size: a volume of ${size} GiB is larger than the quota allows for one volume (per_volume_gigabytes, ${most}); write at most ${most}, or ask the cloud's operator for a larger quota`,
    );
  const byType = [...sumByType(created, nameOf)].flatMap(([type, { paths, ...needs }]) => {
    const what = (unit: string): string => `${unit} of type '${type}' (${[...paths].join(", ")})`;
    return findQuotaProblems(
      {
        [what("volumes")]: quotas[`volumes_${type}`],
        [what("gigabytes")]: quotas[`gigabytes_${type}`],
      },
      { [what("volumes")]: needs.volumes, [what("gigabytes")]: needs.gigabytes },
    );
  });
  return [...new Set([...tooLarge, ...byType])];
}
