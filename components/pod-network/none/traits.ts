import type { PodNetworkRow } from "../pod-network-traits.js";
import { noneOptionsSchema } from "./options.js";

/**
 * Traits of a pod network that the user deploys. The program does not know whether this pod network
 * encapsulates packets. The machines' ports therefore allow packets with pod addresses, which a pod
 * network without encapsulation needs.
 */
export const noneRow: PodNetworkRow<typeof noneOptionsSchema> = {
  options: noneOptionsSchema,
  summary:
    "deploys nothing, for your own pod network: machines let pods' packets pass, and nodes become Ready when it is deployed",
  traits: () => ({
    encapsulation: "none",
    overhead: 0,
    routedRanges: ["pods", "services"],
    images: [],
    passages: [
      { name: "pods", from: "pods", reason: "Pods reach each other without encapsulation" },
    ],
    ipv6: { modes: ["slaac", "dhcpv6-stateful"], overhead: 0 },
    replacesKubeProxy: false,
    assignsPodRanges: true,
    deployedByUser: true,
    kernelModules: [],
  }),
};
