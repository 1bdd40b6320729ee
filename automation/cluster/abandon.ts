import { takeShown, type CloudObject } from "../../cloud/inventory.js";
import { deleteOrphans, orphansIn } from "../../cloud/orphans.js";
import { ownershipOf, readNameInCloud } from "../../cloud/ownership.js";
import { withoutThose } from "./forgetting.js";
import { clearRecord, recover } from "./recovery.js";
import { toolsOf } from "./repair.js";
import type { Run } from "./run.js";
import { readProviders } from "./held-clusters.js";
import {
  identitiesOf,
  ownedIds,
  readState,
  type StateExport,
  type StateResource,
} from "./state.js";

/*
 * Destroys a cluster whose Kubernetes API never answers again (`destroy --abandon`). The state
 * forgets the objects that only this API could delete: they disappear with the machines. The engine
 * deletes the rest.
 */

/**
 * Matches the URN of a script that a component of a `Cluster` runs, but no script of the user's own
 * program.
 */
const clusterScript = /\bstackadm:[^$]*\$command:remote:Command::/;

/**
 * Returns a predicate: does deleting a resource need a cluster's API? True for an object in the
 * cluster and for a script with a teardown. A program may also have Kubernetes providers for other
 * clusters: their objects do not count.
 *
 * @param providers URNs of the providers that connect to the stack's clusters
 */
export const needsApi =
  (providers: ReadonlySet<string>) =>
  ({ urn, type, inputs, provider = "" }: StateResource): boolean =>
    type.startsWith("kubernetes:")
      ? // A reference to a provider has the form `<URN>::<ID>`.
        providers.has(provider.slice(0, provider.lastIndexOf("::")))
      : clusterScript.test(urn) && inputs?.["delete"] !== undefined;

/**
 * Returns the names without an identity that the clusters' cloud controllers use
 * (`--cluster-name`). Earlier releases put no identity into this name, and a cluster keeps its
 * first name.
 *
 * @param isInside whether a resource is in one of the clusters
 */
export const formerNames = (
  { deployment }: StateExport,
  isInside: (resource: StateResource) => boolean,
): ReadonlySet<string> =>
  new Set(
    (deployment.resources ?? [])
      .filter(isInside)
      .flatMap(({ inputs }) => [
        ...JSON.stringify(inputs ?? {}).matchAll(/"--cluster-name=([^"]+)"/g),
      ])
      .flatMap(([, name = ""]) => (readNameInCloud(name) ? [] : [name])),
  );

/**
 * Returns the cluster's name from the name of a Service's load balancer. Namespaces and names of
 * Services contain no `_`.
 */
const clusterIn = ({ name }: CloudObject): string | undefined =>
  /^kube_service_(.+)_[^_]+_[^_]+$/.exec(name)?.[1];

/**
 * Returns the load balancers of the clusters' own cloud controllers: their networks cannot be
 * deleted before them. Such a load balancer carries an identity of the state, or carries none, has
 * one of the former names and is in a network of the state. Any other load balancer in such a
 * network may be another cluster's: it is reported and kept.
 */
function blockingBalancers(
  run: Run,
  objects: readonly CloudObject[],
  { state, former }: { readonly state: StateExport; readonly former: ReadonlySet<string> },
): readonly CloudObject[] {
  const owned = ownedIds(state);
  const marked = orphansIn(objects, identitiesOf(state));
  const ofServices = marked.filter(({ claim }) => claim === "load balancer of a Service");
  const others = objects.filter(
    (one) =>
      one.kind === "load balancer" &&
      clusterIn(one) !== undefined &&
      owned.has(one.network) &&
      !ofServices.some(({ id }) => id === one.id),
  );
  const isOurs = (one: CloudObject): boolean =>
    ownershipOf(one) === undefined && former.has(clusterIn(one) ?? "");
  // Load balancers with another cluster's identity are skipped here: every destroy reports them.
  for (const { name, id } of others.filter((one) => !isOurs(one) && !ownershipOf(one)))
    run.note(
      `! The load balancer '${name}' (${id}) in the cluster's network may belong to another cluster, so it is kept and blocks the deletion of the network: delete it, or its Service in its cluster.`,
    );
  return [...ofServices, ...others.filter(isOurs)];
}

/**
 * Deletes what blocks the networks, removes from the state what needs the API, and undoes what an
 * interrupted run left. The caller holds the stack's lock. Returns the states before and after, and
 * the number of forgotten resources.
 */
async function forgetAndUnblock(run: Run, before: StateExport, signal: AbortSignal) {
  const cloud = await run.cloud();
  const goesWithIt = needsApi(new Set(await readProviders(run.access)));
  const { objects } = await takeShown(cloud);
  const former = formerNames(before, goesWithIt);
  await deleteOrphans(cloud, blockingBalancers(run, objects, { state: before, former }), {
    signal,
    onDelete: ({ kind, name }) => {
      run.note(`Deleting the ${kind} '${name}'.`);
    },
    onWait: (text) => {
      run.note(text);
    },
  });
  const { state: rest, forgotten } = withoutThose(before, goesWithIt);
  // `clearRecord` imports the new state, which deletes the record of pending operations. Recover
  // them first: half-made objects keep their network from being deleted.
  const { state } = await recover(run.access, rest, () => toolsOf(run, signal));
  return { before, state, forgotten };
}

/**
 * Deletes the load balancers that block the networks of an abandoned cluster, and removes from the
 * state what needs the cluster's API. Holds the stack's lock meanwhile and reads the state under
 * this lock.
 *
 * @param requireAgreed throws if the user has not agreed to destroy this state
 */
export async function abandon(
  run: Run,
  requireAgreed: (state: StateExport | undefined) => void,
): Promise<void> {
  const left = await run.hold(async (signal) => {
    const state = await readState(run.access);
    requireAgreed(state);
    return state && forgetAndUnblock(run, state, signal);
  });
  if (!left) return;
  await clearRecord(run.access, left);
  run.note(
    `${left.forgotten} resources that need the cluster's API were removed from the state: they are destroyed together with the cluster.`,
  );
}
