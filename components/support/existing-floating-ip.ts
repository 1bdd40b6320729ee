import * as openstack from "@pulumi/openstack";
import type * as pulumi from "@pulumi/pulumi";
import { identityKey } from "../../cloud/ownership.js";
import type { WantedFloatingIp } from "../../cloud/wanted.js";
import { misnamed, noneFound, reasonOf, type Found } from "./look-up.js";
import { heldIn, ownState } from "./own-state.js";

/** The floating IP, unless the project does not have it or somebody else uses it: Neutron would take it away from there. */
export async function findFloatingIp(
  { address, path }: WantedFloatingIp,
  opts: pulumi.InvokeOptions,
): Promise<Found> {
  try {
    const { id, portId } = await openstack.networking.getFloatingIp({ address }, opts);
    if (portId === undefined || portId === "") return { id };
    const { allTags, name = portId } = await openstack.networking.getPort({ portId }, opts);
    return (await isOurs({ portId, allTags }))
      ? { id }
      : misnamed(
          `the floating IP ${address} of ${path} is in use on the port "${name}"; write another one, or free it`,
        );
  } catch (error) {
    const reason = reasonOf(error);
    return noneFound.test(reason)
      ? misnamed(
          `the floating IP ${address} of ${path} is none of this project's; allocate it, or leave it out`,
        )
      : { problem: reason, named: false };
  }
}

/**
 * Whether the port carries an identity that the stack's state holds, or the state holds what has it: those of OVN's load balancers
 * have no marks, whosever they are. A name is anybody's.
 */
async function isOurs(port: {
  readonly portId: string;
  readonly allTags: readonly string[];
}): Promise<boolean> {
  const recorded = (await ownState()) ?? [];
  const marks = [...heldIn(recorded).identities].map((one) => `${identityKey}=${one}`);
  return (
    port.allTags.some((tag) => marks.includes(tag)) ||
    recorded.some(({ outputs }) => [outputs["portId"], outputs["vipPortId"]].includes(port.portId))
  );
}
