import { isIdentity } from "../../openstack/inventory/ownership.js";
import type { StateExport, StateResource } from "./stack-state.js";

/*
 * Stores the IDs of retained objects in the state, in the resource that creates the cluster's
 * identity. A destroy deletes all objects with this identity, and must recognise retained objects.
 * The engine removes resources with `retainOnDelete` from the state, so the IDs are stored before
 * the destroy (docs/decisions/0007-retained-objects.md). Performs no input or output.
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
 * Returns the cluster's identity and the name of the cluster's component. Returns undefined for
 * resources that do not create an identity.
 */
export function findIdentityAndComponent({
  urn,
  outputs,
}: StateResource): [string, string] | undefined {
  const component = /\$command:local:Command::([^:]*)-identity$/.exec(urn)?.[1];
  const identity = outputs?.["stdout"];
  return component !== undefined && typeof identity === "string" && isIdentity(identity)
    ? [identity, component]
    : undefined;
}

/**
 * Returns the IDs of retained resources. Leaves out the clusters' credentials, because the flag in
 * the state may come from an earlier run. Keystone knows the owner of a credential.
 */
const retainedIn = (resources: readonly StateResource[]): Set<string> =>
  findCreatedIds(
    resources.filter((one) => one.retainOnDelete === true && !isClusterCredential(one)),
  );

/**
 * Name of the output that stores the IDs, one per line. The command plugin accepts no additional
 * outputs, so the IDs are in the standard error of the command that creates the identity. This
 * command prints no errors. The engine neither compares nor changes this output until it deletes
 * the resource, after all other resources.
 */
const retainedIdsOutput = "stderr";
const retainedIdPrefix = "stays: ";

const linesIn = ({ outputs }: StateResource): readonly string[] => {
  const text = outputs?.[retainedIdsOutput];
  return typeof text === "string"
    ? text.split("\n").filter((line) => line.startsWith(retainedIdPrefix))
    : [];
};

/**
 * Returns the IDs of retained objects: from resources in the state, and from stored IDs of objects
 * that are no longer in the state.
 */
export function findRetainedIds(state: StateExport | undefined): Set<string> {
  const all = state?.deployment.resources ?? [];
  const owned = findCreatedIds(all);
  const remembered = all
    .filter((one) => findIdentityAndComponent(one) !== undefined)
    .flatMap(linesIn)
    .map((line) => line.slice(retainedIdPrefix.length));
  return new Set([...retainedIn(all), ...remembered.filter((id) => !owned.has(id))]);
}

/**
 * Returns a state that stores the IDs of all retained objects. Returns the same object if all IDs
 * are stored already.
 */
export function addRetainedIds(state: StateExport): StateExport {
  const all = state.deployment.resources ?? [];
  const lines = [...retainedIn(all)].map((id) => retainedIdPrefix + id);
  const resources = all.map((one) => {
    const known = new Set(linesIn(one));
    if (!findIdentityAndComponent(one) || lines.every((line) => known.has(line))) return one;
    const text = [...new Set([...known, ...lines])].join("\n");
    return { ...one, outputs: { ...one.outputs, [retainedIdsOutput]: text } };
  });
  const same = resources.every((one, index) => one === all[index]);
  return same ? state : { ...state, deployment: { ...state.deployment, resources } };
}
