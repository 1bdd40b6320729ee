import { z } from "zod";
import type { CloudScope } from "../../openstack/auth/token-scope.js";

/* Compares the places of a cluster's objects with the place of the credentials. Pure. */

/**
 * Projects and regions of a cluster's objects, as the cloud reported them when it created the
 * objects.
 */
export interface ResourceLocations {
  readonly projects: ReadonlySet<string>;
  readonly regions: ReadonlySet<string>;
}

const answered = z.object({
  tenantId: z.string().min(1).optional().catch(undefined),
  region: z.string().min(1).optional().catch(undefined),
});

/** Returns the projects and regions in the outputs of these resources. */
export function collectLocations(
  resources: readonly { readonly outputs?: Readonly<Record<string, unknown>> | undefined }[],
): ResourceLocations {
  const locations = resources.map(({ outputs }) => answered.parse(outputs ?? {}));
  return {
    projects: new Set(locations.flatMap(({ tenantId = [] }) => tenantId)),
    regions: new Set(locations.flatMap(({ region = [] }) => region)),
  };
}

/** Place of the credentials. */
type Here = Pick<CloudScope, "projectId" | "region"> & {
  /** Setting that selects the credentials, for the message. */
  readonly source?: string | undefined;
};

/**
 * Returns a sentence if the credentials are for another project or region than the objects. Accepts
 * a place that is unknown on one of both sides. Pure.
 *
 * @param cluster the cluster, as the subject of the sentence
 */
export function findOtherLocation(
  cluster: string,
  { projects, regions }: ResourceLocations,
  { projectId, region, source }: Here,
): string | undefined {
  const places = [
    ["project", projects, projectId],
    ["region", regions, region],
  ] as const;
  const there = places.find(
    ([, places, here]) => places.size > 0 && here !== "" && !places.has(here),
  );
  if (!there) return undefined;
  const [what, known, here] = there;
  const yours = source === undefined ? "your credentials" : `your credentials (${source})`;
  return `${cluster} is in ${what} ${[...known].join(", ")}, but ${yours} are for ${what} ${here}. Nothing was changed.`;
}
