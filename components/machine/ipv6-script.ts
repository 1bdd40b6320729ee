import type * as pulumi from "@pulumi/pulumi";
import type { MachinesIpv6 } from "../network/network.js";
import { createScriptReader } from "../remote-scripts/script-texts.js";

/** Script that configures IPv6 on a machine, after the preparation and in the same step. */
export const ipv6Script = createScriptReader(__dirname)("scripts/ipv6.sh");

/** Returns the variables that {@link ipv6Script} reads. */
export const getIpv6ScriptValues = (
  { nodes, pods }: Pick<MachinesIpv6, "nodes" | "pods">,
  address: pulumi.Input<string> = "",
) => ({ IPV6_ADDRESS: address, IPV6_POD_RANGE: pods, IPV6_NODE_RANGE: nodes });
