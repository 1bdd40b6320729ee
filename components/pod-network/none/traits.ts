import type { PodNetworkRow } from "../pod-network-traits.js";
import { noneOptions } from "./options.js";

/**
 * Facts about a pod network that the user deploys. The machines' ports allow packets with addresses
 * of pods, which is needed only if the pod network does not encapsulate packets.
 */
export const none: PodNetworkRow<typeof noneOptions> = {
  options: noneOptions,
  summary:
    "deploys nothing, for one of your own: machines let pods' packets pass, and nodes become Ready when it is there",
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
    sharesOutRange: true,
    broughtAlong: true,
    kernelModules: [],
  }),
};
