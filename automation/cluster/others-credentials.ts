import { isAnothers } from "../../cloud/cluster-credential.js";
import type { OthersCredential } from "./options.js";
import { madeHere } from "./place.js";
import type { OperationFlags, Run } from "./run.js";
import { changeState, type StateExport, type StateResource } from "./state.js";
import { silentObjects } from "./silent-clusters.js";
import { isClusterCredential, remembering } from "./stays.js";

/*
 * An application credential is its user's: Keystone shows and deletes it for nobody else, administrators apart, and OpenStack's provider
 * fails on what is refused. Of the one that another operator made the engine neither reads nor deletes anything.
 */

const nameOf = ({ outputs, id = "" }: StateResource): string => {
  const name = outputs?.["name"];
  return typeof name === "string" ? name : id;
};

/** What the program made for the controllers of its clusters with the environment's cloud. */
const credentialsIn = (state: StateExport | undefined): StateResource[] =>
  madeHere(state).filter(isClusterCredential);

/** Those of them that are another user's. Whoever listens hears of them. */
export async function othersCredentials(
  run: Run,
  state: StateExport | undefined,
): Promise<OthersCredential[]> {
  const held = credentialsIn(state);
  if (held.length === 0) return [];
  const cloud = await run.cloud();
  const asked = held.map(async (one): Promise<OthersCredential[]> => {
    const { urn, id = "" } = one;
    return (await isAnothers(cloud, id)) ? [{ id, name: nameOf(one), urn }] : [];
  });
  const others = (await Promise.all(asked)).flat();
  for (const { id, name } of others)
    run.note(
      `The application credential '${name}' (${id}) is another user's, who alone can delete it: it stays as it is. Once nothing uses it any more, have its owner run \`openstack application credential delete ${id}\`.`,
    );
  return others;
}

const excluding = (
  others: readonly OthersCredential[],
  silent: readonly string[],
): OperationFlags => {
  const exclude = [...others.map(({ urn }) => urn), ...silent];
  return exclude.length > 0 ? { exclude } : {};
};

/** For an operation that changes nothing in the cloud: it passes them over, and where it reads what is there, clusters that do not answer. */
export async function passOver(
  run: Run,
  state: StateExport | undefined,
  reads = run.options.refresh === true,
): Promise<OperationFlags> {
  const [others, silent] = await Promise.all([
    othersCredentials(run, state),
    reads ? silentObjects(run, state) : [],
  ]);
  return excluding(others, silent);
}

/** The state that has the engine only forget those of others, and delete one's own, whatever an earlier run was to do. */
function owned(state: StateExport, others: ReadonlySet<string>): StateExport {
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

/** The state says what the engine only forgets, and remembers it. */
async function retain(
  { access }: Run,
  found: StateExport | undefined,
  others: ReadonlySet<string>,
): Promise<void> {
  const retaining = (state: StateExport): StateExport => remembering(owned(state, others));
  if (!found || retaining(found) === found) return;
  await changeState(access, (now) => {
    // As it is after a repair.
    const then = now && retaining(now);
    return then === now ? undefined : then;
  });
}

/**
 * For an operation that may delete them: they are only forgotten; what is forgotten because the program has it stay is remembered. What the engine passes over (clusters that do not answer, too) it would not forget, so where it is to read
 * first what is there, that is done here.
 */
export async function disown(
  run: Run,
  found: StateExport | undefined,
): Promise<{ readonly others: readonly OthersCredential[]; readonly flags: OperationFlags }> {
  const others = await othersCredentials(run, found);
  await retain(run, found, new Set(others.map(({ id }) => id)));
  if (run.options.refresh !== true) return { others, flags: {} };
  const silent = await silentObjects(run, found);
  if (others.length + silent.length === 0) return { others, flags: {} };
  await run.engine("refresh", { exists: true, ...excluding(others, silent) });
  return { others, flags: { refresh: false } };
}
