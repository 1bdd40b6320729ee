import type * as pulumi from "@pulumi/pulumi";
import type { MachinesIpv6 } from "../network/network.js";
import { scriptsBeside } from "../remote-scripts/script-texts.js";

/**
 * Script that sets up IPv6 on a machine. Runs after the preparation, as a part of the same script.
 */
export const ipv6Script = scriptsBeside(__dirname)("scripts/ipv6.sh");

/** Returns the variables that {@link ipv6Script} reads. */
export const ipv6ScriptVariables = (
  { nodes, pods }: Pick<MachinesIpv6, "nodes" | "pods">,
  address: pulumi.Input<string> = "",
) => ({ IPV6_ADDRESS: address, IPV6_POD_RANGE: pods, IPV6_NODE_RANGE: nodes });
