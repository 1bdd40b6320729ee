import * as openstack from "@pulumi/openstack";
import type * as pulumi from "@pulumi/pulumi";
import { identityKey } from "../../openstack/inventory/ownership.js";
import type { WantedFloatingIp } from "../../openstack/checks/required-lookups.js";
import {
  createSettingProblem,
  noMatchPattern,
  getCloudErrorReason,
  type LookupResult,
} from "./lookup-result.js";
import { collectStackOwnedObjects, readStateBeforeRun } from "../pulumi/recorded-resources.js";

/**
 * Finds a floating IP. Returns a problem if the floating IP is not in the project. Also returns a
 * problem if a port outside the cluster uses the floating IP, because Neutron would move the
 * floating IP from that port without a warning.
 */
export async function findFloatingIp(
  { address, path }: WantedFloatingIp,
  opts: pulumi.InvokeOptions,
): Promise<LookupResult> {
  try {
    const { id, portId } = await openstack.networking.getFloatingIp({ address }, opts);
    if (portId === undefined || portId === "") return { id };
    const { allTags, name = portId } = await openstack.networking.getPort({ portId }, opts);
    return (await isOurs({ portId, allTags }))
      ? { id }
      : createSettingProblem(
          `the floating IP ${address} of ${path} is in use on the port "${name}"; write another one, or free it`,
        );
  } catch (error) {
    const reason = getCloudErrorReason(error);
    return noMatchPattern.test(reason)
      ? createSettingProblem(
          `the floating IP ${address} of ${path} is none of this project's; allocate it, or leave it out`,
        )
      : { problem: reason, named: false };
  }
}

/**
 * Returns whether the port belongs to this cluster. Such a port has a tag with an identity from the
 * stack's state. Ports of OVN load balancers have no tag, so a port also belongs to the cluster if
 * a resource in the state has its ID. The port's name is not checked, because a name proves
 * nothing.
 */
async function isOurs(port: {
  readonly portId: string;
  readonly allTags: readonly string[];
}): Promise<boolean> {
  const recorded = (await readStateBeforeRun()) ?? [];
  const marks = [...collectStackOwnedObjects(recorded).identities].map(
    (one) => `${identityKey}=${one}`,
  );
  return (
    port.allTags.some((tag) => marks.includes(tag)) ||
    recorded.some(({ outputs }) => [outputs["portId"], outputs["vipPortId"]].includes(port.portId))
  );
}
