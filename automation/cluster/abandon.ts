import type { CloudClient } from "../../cloud/client.js";
import { listObjects, type CloudObject } from "../../cloud/inventory.js";
import { deleteOrphans, findOrphans } from "../../cloud/orphans.js";
import { ownershipOf } from "../../cloud/ownership.js";
import { clearRecord, recover } from "./recovery.js";
import { toolsOf } from "./repair.js";
import type { Run } from "./run.js";
import {
  identitiesOf,
  ownedIds,
  readProviders,
  readState,
  type PendingOperation,
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

/** The resource without references to what is gone: the engine refuses a state in which they lead nowhere. */
function detached(resource: StateResource, gone: ReadonlySet<string>): StateResource {
  const rest = (urns: readonly string[]): string[] => urns.filter((urn) => !gone.has(urn));
  const { dependencies, propertyDependencies, deletedWith, replaceWith, ...others } = resource;
  const byProperty = Object.entries(propertyDependencies ?? {});
  return {
    ...others,
    ...(dependencies && { dependencies: rest(dependencies) }),
    ...(replaceWith && { replaceWith: rest(replaceWith) }),
    ...(deletedWith !== undefined && !gone.has(deletedWith) && { deletedWith }),
    ...(propertyDependencies && {
      propertyDependencies: Object.fromEntries(
        byProperty.map(([property, urns]) => [property, rest(urns ?? [])]),
      ),
    }),
  };
}

/** The state without everything that goes with the cluster, and how many resources that are. */
export function withoutApiObjects(
  state: StateExport,
  goesWithIt: (resource: StateResource) => boolean,
): {
  readonly state: StateExport;
  readonly forgotten: number;
} {
  const { resources, pending_operations: pending } = state.deployment;
  const all = resources ?? [];
  const gone = new Set(all.filter(goesWithIt).map(({ urn }) => urn));
  const stays = ({ resource }: PendingOperation): boolean => !goesWithIt(resource);
  return {
    forgotten: gone.size,
    state: {
      ...state,
      deployment: {
        ...state.deployment,
        resources: all.filter(({ urn }) => !gone.has(urn)).map((one) => detached(one, gone)),
        pending_operations: (pending ?? []).filter(stays),
      },
    },
  };
}

/**
 * What the cluster's cloud controller made: the network cannot go before it. A cluster of an earlier release has no identity
 * in its names: of a load balancer without one, a network that the state holds is proof enough.
 */
async function inTheWay(cloud: CloudClient, state: StateExport): Promise<readonly CloudObject[]> {
  const owned = ownedIds(state);
  const marked = await findOrphans(cloud, identitiesOf(state));
  const ofServices = marked.filter(({ claim }) => claim === "load balancer of a Service");
  const inside = (await listObjects(cloud, "load balancer")).filter(
    (one) =>
      one.name.startsWith("kube_service_") &&
      owned.has(one.network) &&
      ownershipOf(one) === undefined,
  );
  return [...ofServices, ...inside];
}

/** Takes away what stands in the way, and what an interrupted run left; answers what of the state stays. Whoever calls holds the stack. */
async function leave(run: Run, before: StateExport, signal: AbortSignal) {
  const cloud = await run.cloud();
  await deleteOrphans(cloud, await inTheWay(cloud, before), {
    signal,
    onDelete: ({ kind, name }) => {
      run.note(`Deleting the ${kind} '${name}'.`);
    },
  });
  const providers = await readProviders(run.access);
  const { state: rest, forgotten } = withoutApiObjects(before, needsApi(new Set(providers)));
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
