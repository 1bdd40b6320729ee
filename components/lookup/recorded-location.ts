import type { CloudScope } from "../../openstack/auth/token-scope.js";
import { ProgramError } from "../pulumi/errors.js";
import { readStateBeforeRun } from "../pulumi/recorded-resources.js";
import { collectLocations, findOtherLocation } from "./resource-locations.js";

/*
 * Refuses credentials for a project or region that does not contain the cluster. The provider would
 * find none of the cluster's objects, so the engine would create all objects again.
 */

/**
 * Throws if the cluster's objects in the state are in another project or region than the scope of
 * the credentials.
 */
export async function requireRecordedLocation(cluster: string, scope: CloudScope): Promise<void> {
  const state = (await readStateBeforeRun()) ?? [];
  const objects = state.filter(
    ({ name, type }) => type.startsWith("openstack:") && name.startsWith(`${cluster}-`),
  );
  const sentence = findOtherLocation(`The cluster ${cluster}`, collectLocations(objects), scope);
  if (sentence !== undefined) throw new ProgramError("WRONG_PROJECT", sentence);
}
