import { parseUrn } from "../pulumi/urn.js";
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

/** Inputs with which an explicit provider may select another cloud than that of the stack. */
const cloudSelectingInputs = [
  ...["cloud", "authUrl", "region", "tenantId", "tenantName", "token", "userId", "userName"],
  ...["applicationCredentialId", "applicationCredentialName"],
];

/** Beginning of the name that the engine gives to a provider without a name in the program. */
const defaultName = /^default(_|$)/;

/**
 * Returns whether a provider uses the stack's connection. The next run gives the settings of the
 * stack to each default provider, so its inputs in the state do not matter. stackadm's own Pulumi
 * program (index.ts) uses such a provider.
 */
const isOfConnection = ({ type, urn, inputs }: StateResource): boolean =>
  type === "pulumi:providers:openstack" &&
  (defaultName.test(parseUrn(urn).name) ||
    !cloudSelectingInputs.some((key) => key in (inputs ?? {})));

/** Returns the resources that the stack created with its connection. */
export function findResourcesInCloud(state: StateExport | undefined): StateResource[] {
  const resources = state?.deployment.resources ?? [];
  const providers = resources.filter(isOfConnection).map(({ urn }) => `${urn}::`);
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

/** Throws if the state's objects are in another project or region than the stack's connection. */
export async function requireSameLocation({ run, state }: OperationFacts): Promise<void> {
  const known = findResourceLocations(state);
  if (known.projects.size + known.regions.size === 0) return;
  const cluster = `The cluster of stack '${run.stack}'`;
  const { projectId, region } = await run.cloud();
  const here = { projectId, region, source: run.connection.source };
  const sentence = findOtherLocation(cluster, known, here);
  if (sentence !== undefined) throw new Failure("WRONG_PROJECT", sentence);
}
