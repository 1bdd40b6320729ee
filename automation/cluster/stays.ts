import { isIdentity } from "../../cloud/ownership.js";
import type { StateExport, StateResource } from "./state.js";

/*
 * What the program has stay (`retainOnDelete`) the engine only forgets. Afterwards nothing but its mark would say whose it is, and by that a
 * destroy takes away what is left of a cluster. So the identities in the state remember it before an engine may forget it
 * (docs/decisions/0004-identity.md). Pure.
 */

/** Has the ID of the floating IP, which the project had before and keeps. */
const association = "openstack:networking/floatingIpAssociate:FloatingIpAssociate";

/** IDs of what the stack made in the cloud, and not of what it only read there. */
export const idsIn = (resources: readonly StateResource[]): Set<string> =>
  new Set(
    resources.flatMap(({ id, type, external }) =>
      id === undefined || type === association || external === true ? [] : [id],
    ),
  );

const credential =
  /stackadm:identity:ApplicationCredential\$openstack:identity\/applicationCredential:ApplicationCredential::/;

/** Whether the program made it for the controllers of a cluster; the credentials that a program has besides are none of ours. */
export const isClusterCredential = ({ urn }: StateResource): boolean => credential.test(urn);

/** The identity that this is, with the name of its component; undefined for anything else. */
export function identityIn({ urn, outputs }: StateResource): [string, string] | undefined {
  const component = /\$command:local:Command::([^:]*)-identity$/.exec(urn)?.[1];
  const identity = outputs?.["stdout"];
  return component !== undefined && typeof identity === "string" && isIdentity(identity)
    ? [identity, component]
    : undefined;
}

/** Of a cluster's credential Keystone says whose it is, and so whether it stays: what is noted of it is an earlier run's. */
const retainedIn = (resources: readonly StateResource[]): Set<string> =>
  idsIn(resources.filter((one) => one.retainOnDelete === true && !isClusterCredential(one)));

/**
 * A line for each ID in the standard error of what made the identity, which says nothing there. The plugin takes no property that it
 * does not know, and the engine neither compares an output nor changes it, until the identity goes: last of all.
 */
const place = "stderr";
const word = "stays: ";

const linesIn = ({ outputs }: StateResource): readonly string[] => {
  const text = outputs?.[place];
  return typeof text === "string" ? text.split("\n").filter((line) => line.startsWith(word)) : [];
};

/** IDs of what the program has stay: as the state has it, and of what it does not hold any more as it had it. */
export function staysBy(state: StateExport | undefined): Set<string> {
  const all = state?.deployment.resources ?? [];
  const owned = idsIn(all);
  const remembered = all
    .filter((one) => identityIn(one) !== undefined)
    .flatMap(linesIn)
    .map((line) => line.slice(word.length));
  return new Set([...retainedIn(all), ...remembered.filter((id) => !owned.has(id))]);
}

/** The state whose identities remember what is to stay; the same one where they do. */
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
