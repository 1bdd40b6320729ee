import { listVisibleObjects, type CloudObject } from "../../openstack/inventory/inventory.js";
import { deleteOrphans, filterOwnedObjects } from "../../openstack/inventory/marked-objects.js";
import { getOwnership } from "../../openstack/inventory/ownership.js";
import { omitResources } from "../pulumi/prune-state.js";
import { createApiDependencyPredicate } from "../pulumi/needs-cluster-api.js";
import { undoPendingCreates } from "../repair/undo-pending-creates.js";
import { requireAgreedClusters, type ProtectionFacts } from "../guards/destroy-protection.js";
import { createUndoTools } from "../repair/interrupted-run.js";
import type { HeldLock } from "../engine/held-lock.js";
import type { StackOperation } from "../engine/operation-context.js";
import { editUnderLock } from "../steps/edit-state.js";
import type { OperationStep } from "../steps/step.js";
import { readConnectedProviderUrns } from "../engine/kubernetes-providers.js";
import { findClusterIdentities, findOwnedIds, type StateExport } from "../pulumi/stack-state.js";

/*
 * Destroys a cluster whose Kubernetes API will never answer again (`destroy --abandon`). Resources
 * that only this API could delete are removed from the state. Their objects disappear with the
 * machines. The engine deletes all other resources.
 */

/**
 * Returns whether the object is the load balancer of a Service. Namespaces and names of Services
 * contain no `_`.
 */
const isServiceBalancer = ({ kind, name }: CloudObject): boolean =>
  kind === "load balancer" && /^kube_service_.+_[^_]+_[^_]+$/.test(name);

/**
 * Returns the load balancers that the clusters' cloud controllers created: those whose names
 * contain an identity from the state. These load balancers must be deleted first, because Neutron
 * cannot delete a network that load balancers use. A load balancer of a Service without an identity
 * in these networks is kept and reported, because it may belong to another cluster.
 */
function blockingBalancers(
  run: StackOperation,
  objects: readonly CloudObject[],
  state: StateExport,
): readonly CloudObject[] {
  const owned = findOwnedIds(state);
  // Load balancers with another cluster's identity are not reported here, because every destroy
  // reports them.
  const unknown = objects.filter(
    (one) => isServiceBalancer(one) && owned.has(one.network) && !getOwnership(one),
  );
  for (const { name, id } of unknown)
    run.warn(
      `The load balancer '${name}' (${id}) in the cluster's network may belong to another cluster, so it is kept and blocks the deletion of the network: delete it, or its Service in its cluster.`,
    );
  return filterOwnedObjects(objects, findClusterIdentities(state)).filter(
    ({ claim }) => claim === "load balancer of a Service",
  );
}

/**
 * Deletes the Octavia load balancers that prevent the deletion of the networks, and undoes the
 * pending operations of an interrupted run. The caller must hold the stack's lock. Returns the new
 * state and the number of removed resources. The new state lacks the resources that only the
 * Kubernetes API can delete.
 */
async function forgetAndUnblock(run: StackOperation, before: StateExport, lock: HeldLock) {
  const cloud = await lock.cloud();
  const goesWithIt = createApiDependencyPredicate(
    new Set(await readConnectedProviderUrns(run.access)),
  );
  const { objects } = await listVisibleObjects(cloud);
  await deleteOrphans(cloud, blockingBalancers(run, objects, before), {
    signal: lock.signal,
    onDelete: ({ kind, name }) => {
      run.note(`Deleting the ${kind} '${name}'.`);
    },
    onWait: (text) => {
      run.note(text);
    },
  });
  const { state: rest, forgotten } = omitResources(before, goesWithIt);
  // Pending operations are undone here, because the import of the new state would drop them.
  // Half-created objects would then block the deletion of their network.
  const { state } = await undoPendingCreates(run.access, rest, () => createUndoTools(run, lock));
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
    const { after } = await editUnderLock(run, async (now, lock) => {
      requireAgreedClusters({ ...facts, state: now });
      if (!now) return undefined;
      const { state, forgotten } = await forgetAndUnblock(run, now, lock);
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
