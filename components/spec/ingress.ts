import { z } from "zod";
import type { IngressPlanned } from "./traits/ingress.js";
import { octaviaChoices } from "./octavia.js";
import { memberSubnetId, unknowing } from "./sample-services.js";
import { address4, doc, noKind, present, record, truth, whole } from "../arguments/values.js";

const common = {
  replicas: whole(1, "the number of Traefik's pods")
    .default(2)
    .meta(
      doc(
        "in place",
        "How many pods of Traefik run, on different nodes; with `workers` the pool has as many machines at least.",
      ),
    ),
  defaultClass: truth()
    .default(true)
    .meta(
      doc("in place", "Whether an Ingress that names no class is Traefik's, whose is `traefik`."),
    ),
  public: truth()
    .default(true)
    .meta(
      doc(
        "in place",
        "Whether the load balancer has a floating IP; otherwise only the machines' network reaches it.",
      ),
    ),
} as const;

/** What would tell Traefik something by a protocol that it takes from nobody. */
const distrusted = "would be taken for a part of the request, since Traefik trusts no balancer";

const service = record({
  kind: z.literal("service"),
  ...common,
  address: address4
    .optional()
    .meta(
      doc(
        "in place",
        "With `service`: a floating IP of yours, which the service gets and gives back.",
        "a new one",
      ),
    ),
  annotations: record(unknowing, {
    memberSubnetId,
    proxyProtocol: distrusted,
    xForwardedFor: "takes listeners of HTTP, and one of these is TLS",
    defaultTlsContainerRef: "ends TLS before Traefik, which takes it itself at one of these",
  }).optional(),
});

const workers = record({
  kind: z.literal("workers"),
  ...common,
  pool: present("a worker pool").meta(
    doc(
      "in place",
      "With `workers`: the pool on whose machines alone Traefik runs; all of them are behind the load balancer.",
      "**required** for `workers`",
    ),
  ),
  ...octaviaChoices("workers", "Another one creates it again; nobody reaches Traefik meanwhile."),
  floatingIp: address4
    .optional()
    .meta(
      doc(
        "refused",
        "With `workers`: a floating IP that the project has already. It is only put there, and neither changed nor deleted. A load balancer that has another one keeps it until it goes, with `ingress`.",
        "one is made",
      ),
    ),
});

/** How clients reach the ingress controller. A closed union. */
export const ingress = z
  .discriminatedUnion("kind", [service, workers], {
    error: noKind("ingress", ["service", "workers"]),
  })
  .optional()
  .meta(
    doc(
      "in place",
      "Traefik as ingress controller: `service`, anywhere behind a Service of type LoadBalancer; `workers`, on the machines of one pool, behind a load balancer of Octavia that the program makes with these machines, ports 80 and 443.",
      "no ingress controller",
    ),
  );

export type IngressSpec = NonNullable<z.output<typeof ingress>>;

interface Chosen extends IngressPlanned {
  readonly workers: Readonly<Record<string, { readonly count: number }>>;
  readonly loadBalancer: {
    readonly enabled?: boolean | undefined;
    readonly network?: object | undefined;
  };
  readonly cloudController: { readonly enabled?: boolean | undefined };
}

type Found = readonly (readonly [path: readonly string[], input: unknown, message: string])[];

/** A pool on which Traefik cannot run as it is asked to. */
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

/** A cloud that has not what the way to Traefik is made of. */
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

/** What an ingress controller cannot be with the rest of the cluster. */
export function wrongIngress(chosen: Chosen): z.core.$ZodRawIssue[] {
  const { ingress: of, externalNetwork, loadBalancer } = chosen;
  const outside = externalNetwork !== undefined || (of?.kind === "service" && loadBalancer.network);
  const nowhere: Found =
    of?.public === true && !outside && !("floatingIp" in of && of.floatingIp !== undefined)
      ? [
          [
            ["public"],
            true,
            "takes a floating IP of no network; write externalNetwork, or public: false",
          ],
        ]
      : [];
  return [...wrongPool(chosen), ...missingBalancer(chosen), ...nowhere].map(
    ([path, input, message]) => ({
      ...{ code: "custom" as const, path: ["ingress", ...path], input, message },
    }),
  );
}
