import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import { Failure } from "../../base/failures/failure.js";
import { CloudError } from "../../openstack/http/cloud-error.js";
import type { CloudClient } from "../../openstack/client/cloud-client.js";
import type { DeleteOptions } from "../../openstack/inventory/wait-until-unused.js";
import { listObjects } from "../../openstack/inventory/inventory.js";
import { deleteObject } from "../../openstack/inventory/marked-objects.js";
import { getOwnership } from "../../openstack/inventory/ownership.js";
import type { ClusterMarkInput } from "../identity/resource-tags.js";
import { createErrorHook } from "../lifecycle/unreachable-servers.js";
import type { LocalContext } from "../lookup/local-context.js";
import { awaitOutput } from "../pulumi/await-output.js";

const listenersOf = z.looseObject({
  loadbalancer: z.looseObject({ listeners: z.array(z.unknown()).default([]) }),
});

/**
 * Returns whether a load balancer has listeners. A load balancer whose creation failed has no
 * listeners. A load balancer with listeners may serve the API of a working cluster whose state is
 * outdated.
 */
async function hasListeners(cloud: CloudClient, { id }: { readonly id: string }): Promise<boolean> {
  const path = `/lbaas/loadbalancers/${id}`;
  const found = await cloud.request("load-balancer", "GET", path).catch((error: unknown) => {
    // The load balancer was deleted after the list was read.
    if (error instanceof CloudError && error.kind === "not-found") return { loadbalancer: {} };
    throw error;
  });
  return listenersOf.parse(found).loadbalancer.listeners.length > 0;
}

/**
 * Deletes the load balancers with this name that belong to the cluster and have no listeners.
 * Returns one sentence for each deleted load balancer.
 *
 * @throws Failure if a load balancer has listeners
 */
export async function deleteFailedLoadBalancers(
  cloud: CloudClient,
  { name, identity }: { readonly name: string; readonly identity: string },
  options: DeleteOptions = {},
): Promise<string[]> {
  const all = await listObjects(cloud, "load balancer");
  const failed = all.filter(
    (one) => one.name === name && getOwnership(one)?.mark.identity === identity,
  );
  const working = await Promise.all(failed.map((one) => hasListeners(cloud, one)));
  const rest = failed.filter((_, index) => working[index] !== true);
  for (const one of rest) await deleteObject(cloud, one, options);
  const [living] = failed.filter((_, index) => working[index] === true);
  if (living)
    throw new Failure(
      "FAILED",
      `the load balancer '${name}' (${living.id}) is this cluster's and has listeners, but it is not in the state: the state may be an old one.`,
      "Restore the newer state, or delete the load balancer in the cloud.",
    );
  return rest.map(
    ({ id, status }) =>
      `Octavia could not create the load balancer ${name} (${id}, ${status}); it was deleted.`,
  );
}

/**
 * Returns an error hook for a load balancer. If its creation fails, Octavia keeps the load balancer
 * and its address, but the Pulumi state does not contain them. The hook deletes the load balancer
 * and makes the engine create it again.
 */
export const createLoadBalancerErrorHook = (
  mark: ClusterMarkInput,
  name: string,
  operator: LocalContext,
): pulumi.ErrorHook =>
  createErrorHook(`clear-${name}`, async ({ failedOperation, errors }) => {
    if (failedOperation !== "create") return false;
    try {
      const identity = await awaitOutput(pulumi.output(mark.identity));
      const warnings = await deleteFailedLoadBalancers(await operator.connect(), {
        name,
        identity,
      });
      for (const sentence of warnings) await pulumi.log.warn(sentence);
      return warnings.length > 0 && errors.length === 1;
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      await pulumi.log.error(
        `The remaining parts of the load balancer ${name} cannot be deleted: ${reason}`,
      );
      return false;
    }
  });
