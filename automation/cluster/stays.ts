import { isIdentity } from "../../cloud/ownership.js";
import type { StateExport, StateResource } from "./state.js";

/*
 * The engine only forgets resources with `retainOnDelete`. Afterwards only their mark would tell
 * the owner, and a destroy deletes leftovers by this mark. So their IDs are stored in the resources
 * of the identities before an engine may forget them (docs/decisions/0004-identity.md). Pure.
 */

/** Type whose ID is that of the floating IP, which existed in the project before and is kept. */
const association = "openstack:networking/floatingIpAssociate:FloatingIpAssociate";

/**
 * Returns the IDs of objects that the stack created in the cloud, without those that it only read.
 */
export const idsIn = (resources: readonly StateResource[]): Set<string> =>
  new Set(
    resources.flatMap(({ id, type, external }) =>
      id === undefined || type === association || external === true ? [] : [id],
    ),
  );

const credential =
  /stackadm:identity:ApplicationCredential\$openstack:identity\/applicationCredential:ApplicationCredential::/;

/**
 * Returns whether the program created the credential for a cluster's controllers. Other credentials
 * of a program are not handled here.
 */
export const isClusterCredential = ({ urn }: StateResource): boolean => credential.test(urn);

/**
 * Returns the identity and the name of its component, if the resource is an identity; otherwise
 * undefined.
 */
export function identityIn({ urn, outputs }: StateResource): [string, string] | undefined {
  const component = /\$command:local:Command::([^:]*)-identity$/.exec(urn)?.[1];
  const identity = outputs?.["stdout"];
  return component !== undefined && typeof identity === "string" && isIdentity(identity)
    ? [identity, component]
    : undefined;
}

/**
 * Returns the IDs of retained resources, without clusters' credentials: Keystone tells who owns a
 * credential, and the flag in the state may come from an earlier run.
 */
const retainedIn = (resources: readonly StateResource[]): Set<string> =>
  idsIn(resources.filter((one) => one.retainOnDelete === true && !isClusterCredential(one)));

/**
 * Output property of the identity's resource that stores the IDs, one per line: the standard error
 * of its command, which is empty otherwise. The plugin accepts no unknown property, and the engine
 * neither compares nor changes this output until it deletes the identity, last of all.
 */
const place = "stderr";
const word = "stays: ";

const linesIn = ({ outputs }: StateResource): readonly string[] => {
  const text = outputs?.[place];
  return typeof text === "string" ? text.split("\n").filter((line) => line.startsWith(word)) : [];
};

/**
 * Returns the IDs of retained objects: those in the state, and the stored ones that the state does
 * not contain any more.
 */
export function staysBy(state: StateExport | undefined): Set<string> {
  const all = state?.deployment.resources ?? [];
  const owned = idsIn(all);
  const remembered = all
    .filter((one) => identityIn(one) !== undefined)
    .flatMap(linesIn)
    .map((line) => line.slice(word.length));
  return new Set([...retainedIn(all), ...remembered.filter((id) => !owned.has(id))]);
}

/**
 * Returns the state in which the identities store the IDs of all retained objects; the same object
 * if they already do.
 */
export function remembering(state: StateExport): StateExport {
  const all = state.deployment.resources ?? [];
  const lines = [...retainedIn(all)].map((id) => word + id);
  const resources = all.map((one) => {
    const known = new Set(linesIn(one));
    if (!identityIn(one) || lines.every((line) => known.has(line))) return one;
    const text = [...new Set([...known, ...lines])].join("\n");
    return { ...one, outputs: { ...one.outputs, [place]: text } };
  });
  const same = resources.every((one, index) => one === all[index]);
  return same ? state : { ...state, deployment: { ...state.deployment, resources } };
}
