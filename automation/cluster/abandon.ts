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
 * A cluster whose API is gone for good: what is in it goes with the machines. The state forgets it, and the engine takes away
 * the rest.
 */

/** A script that a part of a cluster runs, and none of the program's own. */
const ofCluster = /\bstackadm:[^$]*\$command:remote:Command::/;

/**
 * Does deleting a resource need a cluster's API: an object in it, or a script of its teardown? An object is in the cluster to
 * which its provider leads, and a program may have providers for others.
 *
 * @param providers URNs of the providers that lead to the stack's clusters
 */
export const needsApi =
  (providers: ReadonlySet<string>) =>
  ({ urn, type, inputs, provider = "" }: StateResource): boolean =>
    type.startsWith("kubernetes:")
      ? // A reference to a provider is its URN and its ID.
        providers.has(provider.slice(0, provider.lastIndexOf("::")))
      : ofCluster.test(urn) && inputs?.["delete"] !== undefined;

/**
 * Names without an identity by which cloud controllers of the stack's clusters know these: an earlier release had none, and a cluster
 * keeps the name that it was made under.
 *
 * @param isInside whether a resource is in one of them
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

/** The cluster in the name of a Service's load balancer. Neither a namespace nor a Service has `_` in its name. */
const clusterIn = ({ name }: CloudObject): string | undefined =>
  /^kube_service_(.+)_[^_]+_[^_]+$/.exec(name)?.[1];

/**
 * Load balancers that the clusters' own controllers made: a network cannot go before them. Their names have an identity of the state, or
 * none, but one of the former names, and a network of the state. Another one in such a network may be of a cluster whose owner put it
 * there: it is named, and stays.
 */
function inTheWay(
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
  // What says by an identity that it is another's is named by every destroy.
  for (const { name, id } of others.filter((one) => !isOurs(one) && !ownershipOf(one)))
    run.note(
      `! The load balancer '${name}' (${id}) in the cluster's network is not known to be the cluster's, so it stays, and the network cannot go before it: have its cluster give it back, or delete it.`,
    );
  return [...ofServices, ...others.filter(isOurs)];
}

/** Takes away what stands in the way, and what an interrupted run left; answers what of the state stays. Whoever calls holds the stack. */
async function leave(run: Run, before: StateExport, signal: AbortSignal) {
  const cloud = await run.cloud();
  const goesWithIt = needsApi(new Set(await readProviders(run.access)));
  const { objects } = await takeShown(cloud);
  const former = formerNames(before, goesWithIt);
  await deleteOrphans(cloud, inTheWay(run, objects, { state: before, former }), {
    signal,
    onDelete: ({ kind, name }) => {
      run.note(`Deleting the ${kind} '${name}'.`);
    },
    onWait: (text) => {
      run.note(text);
    },
  });
  const { state: rest, forgotten } = withoutThose(before, goesWithIt);
  // An import forgets the record of it, and what is half made keeps its network.
  const { state } = await recover(run.access, rest, () => toolsOf(run, signal));
  return { before, state, forgotten };
}

/**
 * Takes away what stands in the way of a cluster that is given up, and forgets in the state what needs the API: as long as nobody else
 * works on the stack, by what its state says then.
 *
 * @param requireAgreed refuses a state that nobody agreed to destroy
 */
export async function abandon(
  run: Run,
  requireAgreed: (state: StateExport | undefined) => void,
): Promise<void> {
  const left = await run.hold(async (signal) => {
    const state = await readState(run.access);
    requireAgreed(state);
    return state && leave(run, state, signal);
  });
  if (!left) return;
  await clearRecord(run.access, left);
  run.note(
    `${left.forgotten} resources that need the cluster's API are forgotten: they go with it.`,
  );
}
