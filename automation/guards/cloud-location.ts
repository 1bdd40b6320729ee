import { Failure } from "../../base/failures/failure.js";
import {
  collectLocations,
  findOtherLocation,
  type ResourceLocations,
} from "../../components/lookup/resource-locations.js";
import { addIdentityNotes, readIdentityNotes } from "../pulumi/identity-notes.js";
import type { OperationFacts } from "../steps/step.js";
import type { StateExport, StateResource } from "../pulumi/stack-state.js";

/*
 * Refuses credentials for a project or region that does not contain the cluster. The program does
 * the same (components/lookup/recorded-location.ts), but only in an `up` and a preview, and after
 * the repair. A destroy with such credentials would remove all objects from the state, but leave
 * them in the cloud.
 */

/** Inputs with which a provider may select another cloud than the environment selects. */
const cloudSelectingInputs = [
  ...["cloud", "authUrl", "region", "tenantId", "tenantName", "token", "userId", "userName"],
  ...["applicationCredentialId", "applicationCredentialName"],
];

/**
 * Returns whether a provider uses the cloud that the environment variables select. stackadm's own
 * Pulumi program (index.ts) uses such a provider.
 */
const isOfEnvironment = ({ type, inputs }: StateResource): boolean =>
  type === "pulumi:providers:openstack" &&
  !cloudSelectingInputs.some((key) => key in (inputs ?? {}));

/** Returns the resources that the stack created in the cloud that the environment selects. */
export function findResourcesInCloud(state: StateExport | undefined): StateResource[] {
  const resources = state?.deployment.resources ?? [];
  const providers = resources.filter(isOfEnvironment).map(({ urn }) => `${urn}::`);
  return resources
    .filter(({ provider, external }) => provider !== undefined && external !== true)
    .filter(({ provider = "" }) => providers.some((one) => provider.startsWith(one)));
}

/** Returns the projects and regions of the resources that {@link findResourcesInCloud} returns. */
const locationsOfResources = (state: StateExport | undefined): ResourceLocations =>
  collectLocations(findResourcesInCloud(state));

/** Beginnings of the stored lines with a project and a region. */
const [projectPrefix, regionPrefix] = ["in project: ", "in region: "];

/**
 * Returns the OpenStack projects and regions of the stack's resources. If no resource has a
 * location, returns the stored locations. A destroy that was stopped has deleted the resources, but
 * left-over objects may be in the project. Pure.
 */
export function findResourceLocations(state: StateExport | undefined): ResourceLocations {
  const found = locationsOfResources(state);
  if (found.projects.size + found.regions.size > 0) return found;
  return {
    projects: new Set(readIdentityNotes(state, projectPrefix)),
    regions: new Set(readIdentityNotes(state, regionPrefix)),
  };
}

/**
 * Returns a state that stores the locations of the stack's resources with the cluster's identity.
 * Returns the same object if all locations are stored already, or if operations are pending, which
 * a write of the state would delete.
 */
export function addLocations(state: StateExport): StateExport {
  if ((state.deployment.pending_operations ?? []).length > 0) return state;
  const { projects, regions } = locationsOfResources(state);
  return addIdentityNotes(state, [
    ...[...projects].map((project) => projectPrefix + project),
    ...[...regions].map((region) => regionPrefix + region),
  ]);
}

/** Throws if the state's objects are in another project or region than the environment selects. */
export async function requireSameLocation({ run, state }: OperationFacts): Promise<void> {
  const known = findResourceLocations(state);
  if (known.projects.size + known.regions.size === 0) return;
  const cluster = `The cluster of stack '${run.stack}'`;
  const sentence = findOtherLocation(cluster, known, await run.cloud());
  if (sentence !== undefined) throw new Failure("WRONG_PROJECT", sentence);
}
