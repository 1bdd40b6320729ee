/** Services of type LoadBalancer, as a person would write them for cloud-provider-openstack (pure). */
import { confKey } from "../../spec/cloud-conf.js";
import type { SampleServices } from "../../spec/sample-services.js";

/** What is said of all such Services of the program's. */
export interface Balancing {
  /** Class of those that are internal, so that they are in the network of the nodes. @default none, they are there anyway */
  readonly internalClass?: string | undefined;
  /** Ranges of clients, those inside among them. @default everybody is one */
  readonly clients?: readonly string[] | undefined;
}

type Settings = Pick<SampleServices, "address" | "annotations"> & Balancing;

/** Annotations and fields of such a Service: with a floating IP, or reached from the network of the nodes only. */
export function balanced(reach: "external" | "internal", settings: Settings) {
  const internal = "service.beta.kubernetes.io/openstack-internal-load-balancer";
  const inside = settings.internalClass === undefined ? {} : { class: settings.internalClass };
  const written = { ...(reach === "internal" && inside), ...settings.annotations };
  const annotations: Record<string, string> = {
    ...(reach === "internal" && { [internal]: "true" }),
    ...Object.fromEntries(
      Object.entries(written).map(([key, value]) => [
        `loadbalancer.openstack.org/${confKey(key)}`,
        String(value),
      ]),
    ),
  };
  return {
    metadata: Object.keys(annotations).length > 0 ? { annotations } : {},
    spec: {
      type: "LoadBalancer" as const,
      ...(reach === "external" &&
        settings.address !== undefined && { loadBalancerIP: settings.address }),
      ...(settings.clients && { loadBalancerSourceRanges: [...settings.clients] }),
    },
  };
}
