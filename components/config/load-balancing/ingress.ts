import { z } from "zod";
import type { StringInput } from "../../kubernetes-objects/kubernetes-types.js";
import type { IngressTraitsInput } from "./ingress-traits.js";
import { flavorAndZoneSchemas } from "./flavor-and-zone-schemas.js";
import { annotationsRefusedForTraefik, serviceAnnotationsSchema } from "./service-annotations.js";
import {
  ipv4AddressField,
  doc,
  unknownKindError,
  nonEmptyTextField,
  strictObject,
  booleanField,
  integerField,
  inputField,
} from "../../schema/fields.js";

const common = {
  replicas: integerField(1, "the number of Traefik's pods")
    .default(2)
    .meta(
      doc(
        "in place",
        "Number of Traefik pods, on different nodes; with `workers` the pool needs at least as many machines.",
      ),
    ),
  defaultClass: booleanField()
    .default(true)
    .meta(
      doc(
        "in place",
        "Whether an Ingress without a class belongs to Traefik, whose class is `traefik`.",
      ),
    ),
  public: booleanField()
    .default(true)
    .meta(
      doc(
        "in place",
        "Whether the load balancer has a floating IP; without it, only the machines' network reaches the load balancer.",
      ),
    ),
} as const;

const serviceSchema = strictObject({
  kind: z.literal("service"),
  ...common,
  address: inputField(ipv4AddressField)
    .optional()
    .meta(
      doc(
        "in place",
        "With `service`: a floating IP that you own, which the Service uses and releases again.",
        "a new one",
      ),
    ),
  annotations: serviceAnnotationsSchema(annotationsRefusedForTraefik),
});

const workersSchema = strictObject({
  kind: z.literal("workers"),
  ...common,
  pool: nonEmptyTextField("a worker pool").meta(
    doc(
      "in place",
      "With `workers`: the worker pool whose machines run Traefik; all machines of the pool are behind the load balancer.",
      "**required** for `workers`",
    ),
  ),
  ...flavorAndZoneSchemas(
    "workers",
    "A change recreates the load balancer; meanwhile no client reaches Traefik.",
  ),
  floatingIp: inputField(ipv4AddressField)
    .optional()
    .meta(
      doc(
        "refused",
        "With `workers`: a floating IP that the project already has. The program only attaches it, and neither changes nor deletes it. A load balancer with another floating IP keeps that until the load balancer is removed with `ingress`.",
        "the program creates one",
      ),
    ),
});

/** Ingress controller. `kind` determines how clients reach the ingress controller. */
export const ingressSchema = z
  .discriminatedUnion("kind", [serviceSchema, workersSchema], {
    error: unknownKindError("ingress", ["service", "workers"]),
  })
  .optional()
  .meta(
    doc(
      "in place",
      "Traefik as ingress controller. `service`: on any nodes, behind a Service of type LoadBalancer. `workers`: on the machines of one pool, behind an Octavia load balancer for ports 80 and 443 that the program creates.",
      "no ingress controller",
    ),
  );

export type IngressSpec = NonNullable<z.output<typeof ingressSchema>>;
/** Settings of the ingress controller. The address may become known only during the run. */
export type IngressSettings =
  | Extract<IngressSpec, { kind: "workers" }>
  | (Omit<Extract<IngressSpec, { kind: "service" }>, "address"> & {
      readonly address?: StringInput | undefined;
    });

interface Chosen extends IngressTraitsInput {
  readonly workers: Readonly<Record<string, { readonly count: number }>>;
  readonly loadBalancer: {
    readonly enabled?: boolean | undefined;
    readonly network?: object | undefined;
  };
  readonly cloudController: { readonly enabled?: boolean | undefined };
}

type Found = readonly (readonly [path: readonly string[], input: unknown, message: string])[];

/**
 * Reports a pool that does not exist, has no machines, or has fewer machines than Traefik has pods.
 */
function wrongPool({ ingress: of, workers: pools }: Chosen): Found {
  if (of?.kind !== "workers") return [];
  const { pool, replicas } = of;
  const count = pools[pool]?.count;
  const names = Object.keys(pools).join(", ");
  if (count === undefined)
    return [[["pool"], pool, `${pool} is no pool of \`workers\`; write one of ${names}`]];
  if (count === 0)
    return [[["pool"], pool, `${pool} has no machines; give it some, or write another pool`]];
  const fewer = `write at most ${String(count)}, or give the pool more machines`;
  return count < replicas
    ? [[["replicas"], replicas, `${String(replicas)} pods need as many machines; ${fewer}`]]
    : [];
}

/**
 * Reports an ingress controller that would get no load balancer, because load balancers or the
 * cloud controller are disabled.
 */
function missingBalancer({ ingress: of, ...chosen }: Chosen): Found {
  if (of === undefined) return [];
  if (chosen.loadBalancer.enabled === false)
    return [[[], of.kind, "needs load balancers, and loadBalancer.enabled is false; leave it out"]];
  return of.kind === "service" && chosen.cloudController.enabled === false
    ? [
        [
          [],
          of.kind,
          "service needs the cloud controller, and cloudController.enabled is false; write kind: workers",
        ],
      ]
    : [];
}

/** Reports options of the ingress controller that contradict the rest of the cluster. */
export function findIngressConflicts(chosen: Chosen): z.core.$ZodRawIssue[] {
  const { ingress: of, externalNetwork, loadBalancer } = chosen;
  const outside = externalNetwork !== undefined || (of?.kind === "service" && loadBalancer.network);
  const nowhere: Found =
    of?.public === true && !outside && !("floatingIp" in of && of.floatingIp !== undefined)
      ? [
          [
            ["public"],
            true,
            "needs a floating IP, and externalNetwork is missing; write externalNetwork, or public: false",
          ],
        ]
      : [];
  return [...wrongPool(chosen), ...missingBalancer(chosen), ...nowhere].map(
    ([path, input, message]) => ({
      code: "custom" as const,
      path: ["ingress", ...path],
      input,
      message,
    }),
  );
}
