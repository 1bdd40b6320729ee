import { z } from "zod";
import type { Late } from "../support/kubernetes-types.js";
import type { EndpointSpec } from "./endpoint.js";
import { presetOf, type Topology } from "./topology.js";
import { loadBalancerClasses, loadBalancerKeys, otherSections, owned } from "./cloud-conf.js";
import { doc, present, record, truth } from "./values.js";

/** Services of type LoadBalancer: section [LoadBalancer] of cloud.conf, and a section for each class. */
export const loadBalancer = record(
  {
    enabled: truth()
      .optional()
      .meta(
        doc(
          "refused",
          "Whether there are load balancers. Without, for a cloud that has no Octavia, services of type LoadBalancer get no address, and the API has another endpoint than `load-balancer`.",
          "`true`",
        ),
      ),
    provider: present("an Octavia provider")
      .default("amphora")
      .meta(doc("in place", "Octavia provider for Services of type LoadBalancer.")),
    ...loadBalancerKeys,
    classes: loadBalancerClasses,
  },
  owned.loadBalancer,
).prefault({});

const { global, networking, metadata, keyManager } = otherSections;

/** What the cluster's controllers are told of the cloud besides: the other sections of cloud.conf. */
export const cloudController = record(
  {
    enabled: truth()
      .optional()
      .meta(
        doc(
          "refused",
          "Whether the cluster has a cloud controller. Without, there are no load balancers, nodes have no external address and no zone, and a node stays that lost its server behind the cluster's back. Volumes work.",
          "`true`",
        ),
      ),
    global: record(global, owned.global).optional(),
    networking: record(networking).optional(),
    metadata: record(metadata).optional(),
    keyManager: record(keyManager).optional(),
  },
  { route: owned.route.routerId },
).prefault({});

const secret = z.custom<Late>(
  // An output, or what stands for an encrypted value in a stack's settings.
  (value) =>
    (typeof value === "string" && value !== "") || (typeof value === "object" && value !== null),
  { error: "is missing; write the secret of the application credential, encrypted" },
);

/** With what the cluster's controllers work in the cloud, instead of a credential that the program makes. */
export const credential = record({
  id: present("the ID of an application credential").meta(
    doc(
      "in place",
      "ID of an application credential for the cluster's controllers, in the project and with the roles that they need, where the program cannot or must not make one.",
      "the program makes one",
    ),
  ),
  secret: secret.meta(
    doc(
      "in place",
      "Its secret, encrypted: `pulumi config set --path stackadm:cluster.credential.secret --secret`. In clear it is refused.",
      "the program makes one",
    ),
  ),
}).optional();

/** What is wrong with a secret that lies open. */
export const openSecret = {
  path: "cluster.credential.secret",
  message:
    "is not encrypted; write it with `pulumi config set --path stackadm:cluster.credential.secret --secret`, and take another one, since this one was in a file",
} as const;

interface Chosen {
  readonly loadBalancer: { readonly enabled?: boolean | undefined };
  readonly cloudController: { readonly enabled?: boolean | undefined };
  readonly endpoint?: { readonly kind: EndpointSpec["kind"] } | undefined;
  readonly topology?: Topology | undefined;
  readonly samples: boolean;
}

/** What a cluster without load balancers cannot have. */
export function withoutLoadBalancers(chosen: Chosen): z.core.$ZodRawIssue[] {
  const withoutController = chosen.cloudController.enabled === false;
  if (chosen.loadBalancer.enabled !== false && !withoutController) return [];
  const kind = chosen.endpoint?.kind ?? presetOf(chosen.topology).endpoint;
  const off = `${withoutController ? "cloudController" : "loadBalancer"}.enabled is false`;
  const issue = (path: string, input: unknown, message: string): z.core.$ZodRawIssue => ({
    ...{ code: "custom", path: [path], input, message },
  });
  return [
    // Octavia itself may be there when the controller is not.
    ...(kind === "load-balancer" && chosen.loadBalancer.enabled === false
      ? [
          issue(
            "endpoint",
            kind,
            `load-balancer needs Octavia, and loadBalancer.enabled is false; write kind: virtual-ip`,
          ),
        ]
      : []),
    ...(chosen.samples
      ? [issue("samples", true, `the sample services are load balancers, and ${off}; write false`)]
      : []),
  ];
}
