import { isOwnedByAnotherUser } from "../../openstack/checks/cluster-credential-check.js";
import type { ForeignCredential } from "../engine/operation-options.js";
import { findResourcesInCloud } from "./cloud-location.js";
import type { EngineRunFlags, StackOperation } from "../engine/operation-context.js";
import type { OperationFacts, OperationStep } from "../steps/step.js";
import { rewriteState, type StateExport, type StateResource } from "../pulumi/stack-state.js";
import { findConvertedServerGroups } from "./plugin-conversion.js";
import { findUnreachableKubernetesObjects } from "./unreachable-clusters.js";
import { isClusterCredential, addRetainedIds } from "../pulumi/retained-objects.js";

/*
 * Excludes application credentials of other users from the engine's work. An application credential
 * belongs to one user: Keystone shows and deletes it only for this user and for administrators.
 * OpenStack's provider fails if Keystone refuses. So the engine must neither read nor delete a
 * credential that another operator created.
 */

const nameOf = ({ outputs, id = "" }: StateResource): string => {
  const name = outputs?.["name"];
  return typeof name === "string" ? name : id;
};

/**
 * Returns the credentials that the program created in this cloud for the controllers of the stack's
 * clusters.
 */
const credentialsIn = (state: StateExport | undefined): StateResource[] =>
  findResourcesInCloud(state).filter(isClusterCredential);

/** Returns the credentials that belong to other users, and reports each credential. */
export async function findForeignCredentials(
  run: StackOperation,
  state: StateExport | undefined,
): Promise<ForeignCredential[]> {
  const credentials = credentialsIn(state);
  if (credentials.length === 0) return [];
  const cloud = await run.cloud();
  const asked = credentials.map(async (one): Promise<ForeignCredential[]> => {
    const { urn, id = "" } = one;
    return (await isOwnedByAnotherUser(cloud, id)) ? [{ id, name: nameOf(one), urn }] : [];
  });
  const others = (await Promise.all(asked)).flat();
  for (const { id, name } of others)
    run.note(
      `The application credential '${name}' (${id}) belongs to another user, and only this user can delete it: it is kept. When nothing uses it any more, ask its owner to run \`openstack application credential delete ${id}\`.`,
    );
  return others;
}

/**
 * Returns the URNs of resources that a refresh cannot read, or that a refresh would convert to an
 * old form.
 */
const unread = async (run: StackOperation, state: StateExport | undefined): Promise<string[]> => [
  ...(await findUnreachableKubernetesObjects(run, state)),
  ...findConvertedServerGroups(state),
];

const excluding = (
  others: readonly ForeignCredential[],
  passed: readonly string[],
): EngineRunFlags => {
  const exclude = [...others.map(({ urn }) => urn), ...passed];
  return exclude.length > 0 ? { exclude } : {};
};

/**
 * Returns flags for an operation that changes nothing in the cloud. The flags exclude application
 * credentials of other users. If the operation reads real objects, the flags also exclude the
 * resources of {@link unread}.
 *
 * @param reads whether the operation reads real objects. Default: true with `--refresh`
 */
export async function createExclusionFlags(
  run: StackOperation,
  state: StateExport | undefined,
  reads = run.options.refresh === true,
): Promise<EngineRunFlags> {
  const [others, passed] = await Promise.all([
    findForeignCredentials(run, state),
    reads ? unread(run, state) : [],
  ]);
  return excluding(others, passed);
}

/**
 * Returns the state with `retainOnDelete` for exactly the credentials of other users. The engine
 * then only removes these credentials from the state. Removes the flag from this user's
 * credentials, because a run of another user may have set it.
 */
function withRetention(state: StateExport, others: ReadonlySet<string>): StateExport {
  const wrong = new Set(
    credentialsIn(state).filter(
      ({ id = "", retainOnDelete = false }) => retainOnDelete !== others.has(id),
    ),
  );
  if (wrong.size === 0) return state;
  const resources = (state.deployment.resources ?? []).map((one) =>
    wrong.has(one) ? { ...one, retainOnDelete: others.has(one.id ?? "") } : one,
  );
  return { ...state, deployment: { ...state.deployment, resources } };
}

/**
 * Sets `retainOnDelete` for credentials of other users in the state, and stores the IDs of all
 * retained objects. Returns the new state.
 */
const storeRetention = (
  { access }: StackOperation,
  found: StateExport | undefined,
  others: ReadonlySet<string>,
): Promise<StateExport | undefined> =>
  rewriteState(access, found, (state) => addRetainedIds(withRetention(state, others)));

/** Facts about credentials of other users. */
export interface ForeignCredentialFacts extends OperationFacts {
  /** Credentials that the operation keeps. */
  others: readonly ForeignCredential[];
  /** Flags for the engine's run of the operation. */
  flags: EngineRunFlags;
}

/**
 * Prepares an operation that may delete resources. Sets `retainOnDelete` for credentials of other
 * users, so the engine only removes these credentials from the state. Also stores the IDs of
 * retained objects. With `--refresh`, runs the refresh here, and excludes resources that cannot be
 * read. The operation itself must not exclude these resources, because they would then stay in the
 * state.
 */
export const retainForeignCredentials: OperationStep<ForeignCredentialFacts> = {
  title: "Keep application credentials of other users",
  silent: true,
  apply: async (facts) => {
    const { run, state } = facts;
    facts.others = await findForeignCredentials(run, state);
    facts.state = await storeRetention(run, state, new Set(facts.others.map(({ id }) => id)));
    if (run.options.refresh !== true) return;
    const passed = await unread(run, state);
    if (facts.others.length + passed.length === 0) return;
    await run.runEngine("refresh", excluding(facts.others, passed));
    facts.flags = { refresh: false };
  },
};

/**
 * Prepares a destroy in the same way as {@link retainForeignCredentials}. The plan of the destroy
 * lists the credentials of other users.
 */
export const retainForeignCredentialsInDestroy: OperationStep<
  ForeignCredentialFacts,
  { readonly others?: readonly ForeignCredential[] }
> = {
  ...retainForeignCredentials,
  describe: async ({ run, state }) => {
    const others = await findForeignCredentials(run, state);
    return others.length > 0 ? { others } : {};
  },
};
