import * as openstack from "@pulumi/openstack";
import * as pulumi from "@pulumi/pulumi";
import { z } from "zod";
import { ProgramError } from "../pulumi/errors.js";
import { readStateBeforeRun } from "../pulumi/recorded-resources.js";

const networkType = "openstack:networking/network:Network";
const subnetType = "openstack:networking/subnet:Subnet";
const markedNetwork = z.object({ id: z.string(), tags: z.array(z.string()).min(1) });

/**
 * Refuses to create a second subnet in a network of the cluster, if the state contains the network
 * without its subnet. Neutron would refuse the subnet, because its range overlaps. A destroy that
 * ended before it deleted the network leaves such a state (network.ts), and so does a failed create
 * of the subnet. A preview only warns, because `stackadm up` deletes some of these subnets itself.
 */
export async function requireNoForgottenSubnet(
  cluster: string,
  opts: pulumi.InvokeOptions,
): Promise<void> {
  const state = ((await readStateBeforeRun()) ?? []).filter(({ name }) =>
    name.startsWith(`${cluster}-network-`),
  );
  const networks = state.filter(
    ({ type, name }) =>
      type === networkType &&
      !state.some(
        (other) => other.type === subnetType && other.name === name.replace(/network$/, "subnet"),
      ),
  );
  for (const { name, outputs } of networks) {
    // Subnets of other owners lack the tags, which network and subnet have in common.
    const { success, data: marked } = markedNetwork.safeParse(outputs);
    if (!success) continue;
    const asked = { networkId: marked.id, tags: marked.tags };
    const { ids } = await openstack.networking.getSubnetIdsV2(asked, opts);
    if (ids.length === 0) continue;
    const sentence = `The network of ${name} contains a subnet that is not in the state (${ids.join(", ")}). An earlier destroy or \`up\` ended before it finished, and Neutron refuses a second subnet with the same range. To continue with this cluster, run \`openstack subnet delete ${ids.join(" ")}\`, then the same command again. To delete the cluster, run the destroy again.`;
    if (!pulumi.runtime.isDryRun()) throw new ProgramError("FAILED", sentence);
    await pulumi.log.warn(sentence);
  }
}
