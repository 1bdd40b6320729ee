import { addIdentityNotes, readIdentityNotes } from "./identity-notes.js";
import type { StateExport, StateResource } from "./stack-state.js";

/*
 * Stores the IDs of retained objects in the state, with the cluster's identity. A destroy deletes
 * all objects with this identity, and must recognise retained objects. The engine removes resources
 * with `retainOnDelete` from the state, so the IDs are stored before the destroy
 * (docs/decisions/0007-retained-objects.md). Performs no input or output.
 */

/**
 * Resource type whose IDs are IDs of existing floating IPs. The stack does not own these floating
 * IPs.
 */
const association = "openstack:networking/floatingIpAssociate:FloatingIpAssociate";

/**
 * Returns the IDs of objects that the stack created in the cloud. Leaves out objects that the
 * program only read.
 */
export const findCreatedIds = (resources: readonly StateResource[]): Set<string> =>
  new Set(
    resources.flatMap(({ id, type, external }) =>
      id === undefined || type === association || external === true ? [] : [id],
    ),
  );

const credential =
  /stackadm:identity:ApplicationCredential\$openstack:identity\/applicationCredential:ApplicationCredential::/;

/**
 * Returns whether the resource is the application credential of a cluster's controllers. False for
 * other credentials in the user's program.
 */
export const isClusterCredential = ({ urn }: StateResource): boolean => credential.test(urn);

/**
 * Returns the IDs of retained resources. Leaves out the clusters' credentials, because the flag in
 * the state may come from an earlier run. Keystone knows the owner of a credential.
 */
const retainedIn = (resources: readonly StateResource[]): Set<string> =>
  findCreatedIds(
    resources.filter((one) => one.retainOnDelete === true && !isClusterCredential(one)),
  );

/** Beginning of the stored line with the ID of a retained object. */
const retainedIdPrefix = "stays: ";

/**
 * Returns the IDs of retained objects: from resources in the state, and from stored IDs of objects
 * that are no longer in the state.
 */
export function findRetainedIds(state: StateExport | undefined): Set<string> {
  const all = state?.deployment.resources ?? [];
  const owned = findCreatedIds(all);
  const remembered = readIdentityNotes(state, retainedIdPrefix);
  return new Set([...retainedIn(all), ...remembered.filter((id) => !owned.has(id))]);
}

/**
 * Returns a state that stores the IDs of all retained objects. Returns the same object if all IDs
 * are stored already.
 */
export const addRetainedIds = (state: StateExport): StateExport =>
  addIdentityNotes(
    state,
    [...retainedIn(state.deployment.resources ?? [])].map((id) => retainedIdPrefix + id),
  );
