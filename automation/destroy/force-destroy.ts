import { listVisibleObjects, type CloudObject } from "../../openstack/inventory/inventory.js";
import { deleteOrphans, filterOwnedObjects } from "../../openstack/inventory/marked-objects.js";
import { getOwnership, parseNameInCloud } from "../../openstack/inventory/ownership.js";
import { omitResources } from "../pulumi/prune-state.js";
import { createApiDependencyPredicate } from "../pulumi/needs-cluster-api.js";
import { undoPendingCreates } from "../repair/undo-pending-creates.js";
import { requireAgreedClusters, type ProtectionFacts } from "../guards/destroy-protection.js";
import { createUndoTools } from "../repair/interrupted-run.js";
import type { StackOperation } from "../engine/operation-context.js";
import { editUnderLock } from "../steps/edit-state.js";
import type { OperationStep } from "../steps/step.js";
import { readConnectedProviderUrns } from "../engine/kubernetes-providers.js";
import {
  findClusterIdentities,
  findOwnedIds,
  type StateExport,
  type StateResource,
} from "../pulumi/stack-state.js";

/*
 * Destroys a cluster whose Kubernetes API will never answer again (`destroy --abandon`). Resources
 * that only this API could delete are removed from the state. Their objects disappear with the
 * machines. The engine deletes all other resources.
 */

/**
 * Returns the values of the cloud controllers' argument `--cluster-name` that do not contain the
 * identity of a cluster. Only clusters that an earlier release created have such a value, because
 * the value never changes.
 *
 * @param isInside returns whether a resource is in one of the clusters
 */
export const findLegacyClusterNames = (
  { deployment }: StateExport,
  isInside: (resource: StateResource) => boolean,
): ReadonlySet<string> =>
  new Set(
    (deployment.resources ?? [])
      .filter(isInside)
      .flatMap(({ inputs }) => [
        ...JSON.stringify(inputs ?? {}).matchAll(/"--cluster-name=([^"]+)"/g),
      ])
      .flatMap(([, name = ""]) => (parseNameInCloud(name) ? [] : [name])),
  );

/**
 * Returns the value of `--cluster-name` in the name of a load balancer that a cloud controller
 * created for a Service. Returns undefined for other load balancers. The pattern is unambiguous,
 * because namespaces and names of Services contain no `_`.
 */
const clusterIn = ({ name }: CloudObject): string | undefined =>
  /^kube_service_(.+)_[^_]+_[^_]+$/.exec(name)?.[1];

/**
 * Returns the load balancers that the clusters' cloud controllers created. These load balancers
 * must be deleted first, because Neutron cannot delete a network that load balancers use. A load
 * balancer belongs to the clusters in two cases. Either its name contains an identity from the
 * state. Or it is in a network of the state, and its name contains no identity but a value from
 * `former`. Warns about other load balancers without an identity in these networks. These load
 * balancers are kept, because they may belong to another cluster.
 */
function blockingBalancers(
  run: StackOperation,
  objects: readonly CloudObject[],
  { state, former }: { readonly state: StateExport; readonly former: ReadonlySet<string> },
): readonly CloudObject[] {
  const owned = findOwnedIds(state);
  const marked = filterOwnedObjects(objects, findClusterIdentities(state));
  const ofServices = marked.filter(({ claim }) => claim === "load balancer of a Service");
  const others = objects.filter(
    (one) =>
      one.kind === "load balancer" &&
      clusterIn(one) !== undefined &&
      owned.has(one.network) &&
      !ofServices.some(({ id }) => id === one.id),
  );
  const isOurs = (one: CloudObject): boolean =>
    getOwnership(one) === undefined && former.has(clusterIn(one) ?? "");
  // Load balancers with another cluster's identity are not reported here, because every destroy
  // reports them.
  for (const { name, id } of others.filter((one) => !isOurs(one) && !getOwnership(one)))
    run.warn(
      `The load balancer '${name}' (${id}) in the cluster's network may belong to another cluster, so it is kept and blocks the deletion of the network: delete it, or its Service in its cluster.`,
    );
  return [...ofServices, ...others.filter(isOurs)];
}

/**
 * Deletes the Octavia load balancers that prevent the deletion of the networks, and undoes the
 * pending operations of an interrupted run. The caller must hold the stack's lock. Returns the new
 * state and the number of removed resources. The new state lacks the resources that only the
 * Kubernetes API can delete.
 */
async function forgetAndUnblock(run: StackOperation, before: StateExport, signal: AbortSignal) {
  const cloud = await run.cloud();
  const goesWithIt = createApiDependencyPredicate(
    new Set(await readConnectedProviderUrns(run.access)),
  );
  const { objects } = await listVisibleObjects(cloud);
  const former = findLegacyClusterNames(before, goesWithIt);
  await deleteOrphans(cloud, blockingBalancers(run, objects, { state: before, former }), {
    signal,
    onDelete: ({ kind, name }) => {
      run.note(`Deleting the ${kind} '${name}'.`);
    },
    onWait: (text) => {
      run.note(text);
    },
  });
  const { state: rest, forgotten } = omitResources(before, goesWithIt);
  // Undoes the pending operations now, because an import of the new state deletes their record.
  // Objects that these operations created would then block the deletion of the network.
  const { state } = await undoPendingCreates(run.access, rest, () => createUndoTools(run, signal));
  return { state, forgotten };
}

/**
 * Step of `destroy --abandon`. Deletes the load balancers that block the deletion of the cluster's
 * networks. Removes the resources from the state whose deletion needs the cluster's API.
 */
export const forgetResourcesOfApi: OperationStep<ProtectionFacts> = {
  title: "Remove what needs the cluster's API from the state",
  apply: async (facts) => {
    const { run } = facts;
    let removed: number | undefined;
    const { after } = await editUnderLock(run, async (now, signal) => {
      requireAgreedClusters({ ...facts, state: now });
      if (!now) return undefined;
      const { state, forgotten } = await forgetAndUnblock(run, now, signal);
      removed = forgotten;
      return state;
    });
    facts.state = after;
    if (removed === undefined) return;
    run.note(
      `${removed} resources that need the cluster's API were removed from the state: they are destroyed together with the cluster.`,
    );
  },
};
