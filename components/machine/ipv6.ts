import type * as pulumi from "@pulumi/pulumi";
import type { MachinesIpv6 } from "../network/network.js";
import { scriptsBeside } from "../support/static-scripts.js";

/** Goes on where the preparation of a machine ends, in the same step. */
export const ipv6Script = scriptsBeside(__dirname)("scripts/ipv6.sh");

/** What {@link ipv6Script} reads. */
export const ipv6Values = (
  { nodes, pods }: Pick<MachinesIpv6, "nodes" | "pods">,
  address: pulumi.Input<string> = "",
) => ({ IPV6_ADDRESS: address, IPV6_POD_RANGE: pods, IPV6_NODE_RANGE: nodes });
