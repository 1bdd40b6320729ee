import { Address4, Address6 } from "ip-address";
import { z } from "zod";
import { octaviaChoices } from "./octavia.js";
import { presetOf, type Topology } from "./topology.js";
import { address4, doc, noKind, present, record, text, truth } from "../arguments/values.js";

const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** RFC 1123 subdomain. What looks like an IPv4 address is none. */
export const isDnsName = (value: string): boolean => {
  const labels = value.split(".");
  return (
    value.length <= 253 &&
    labels.every((one) => label.test(one)) &&
    !/^[0-9]+$/.test(labels.at(-1) ?? "")
  );
};

const isAddress = (value: string): boolean =>
  !value.includes("/") && (Address4.isValid(value) || Address6.isValid(value));

/** Said of both kinds that have an address of their own inside the network. */
const open = truth()
  .default(true)
  .meta(
    doc(
      "in place",
      "With `load-balancer` and `virtual-ip`: whether a floating IP leads to the address from outside, for those in `allowedCidrs`.",
    ),
  );

/** Said of all kinds that have a floating IP. */
const floating = address4
  .optional()
  .meta(
    doc(
      "refused",
      "With `floating-ip`, `load-balancer` and `virtual-ip`: a floating IP that the project has already. It is only put there, and neither changed nor deleted.",
      "one is made",
    ),
  );

const floatingIp = record({ kind: z.literal("floating-ip"), floatingIp: floating });

const loadBalancer = record({
  kind: z.literal("load-balancer"),
  provider: present("an Octavia provider")
    .optional()
    .meta(
      doc(
        "in place",
        "With `load-balancer`: Octavia provider of the API's load balancer. Another one creates it again; the API cannot be reached from outside meanwhile.",
        "that of `loadBalancer`",
      ),
    ),
  ...octaviaChoices(
    "load-balancer",
    "Another one creates it again; the API cannot be reached from outside meanwhile.",
  ),
  public: open,
  floatingIp: floating,
});

const virtualIp = record({
  kind: z.literal("virtual-ip"),
  address: address4
    .optional()
    .meta(
      doc(
        "in place",
        "With `virtual-ip`: the address, a free one of `network.nodes`.",
        "Neutron chooses",
      ),
    ),
  public: open,
  floatingIp: floating,
});

const existing = record({
  kind: z.literal("existing"),
  host: text(
    (value) => isAddress(value) || isDnsName(value),
    "is neither an IP address nor a DNS name; write one like 203.0.113.7 or api.example.org",
    "write the address or DNS name of the balancer, like 203.0.113.7 or api.example.org",
  ).meta(
    doc(
      "in place",
      "With `existing`: address or DNS name of a balancer of your own, which passes port 6443 on to the control planes'. Inside the network it has to answer too.",
      "**required** for `existing`",
    ),
  ),
});

const inside = record({ kind: z.literal("private") });

const kinds = ["floating-ip", "load-balancer", "virtual-ip", "existing", "private"] as const;

/** How the Kubernetes API is reached. A closed union: components/endpoint has a file per kind. */
export const endpoint = z
  .discriminatedUnion("kind", [floatingIp, loadBalancer, virtualIp, existing, inside], {
    error: noKind("endpoint", kinds),
  })
  .optional()
  .meta(
    doc(
      "in place",
      "How the API is reached: `floating-ip` on the first control plane; `load-balancer` of Octavia in the machines' subnet; `virtual-ip` that the control planes hand to each other by keepalived; `existing`, a balancer of your own; `private`, not from outside: the program has to run where it reaches the machines.",
      "`kind: floating-ip`; `kind: load-balancer` with the topology `ha`",
    ),
  );

export const apiName = text(
  isDnsName,
  "is not a DNS name; use lower-case letters, digits and dashes between dots, like api.dev.internal",
)
  .optional()
  .meta(
    doc(
      "refused",
      "The cluster's own DNS name of its API, which the machines resolve themselves.",
      "`api.<name>.internal`; with an `existing` DNS name, that one",
    ),
  );

type Written = NonNullable<z.output<typeof endpoint>>;
/** An endpoint with every default filled in. */
export type EndpointSpec =
  | Exclude<Written, { kind: "load-balancer" }>
  | (Extract<Written, { kind: "load-balancer" }> & { provider: string });

/** The DNS name of an existing endpoint: it resolves itself, and no machine may take it for another address. */
export const dnsNameOf = (spec: Written | undefined): string | undefined =>
  spec?.kind === "existing" && isDnsName(spec.host) ? spec.host : undefined;

/** The floating IP that exists, if one was written. */
export const existingFloatingIp = (endpoint: EndpointSpec): string | undefined =>
  "floatingIp" in endpoint ? endpoint.floatingIp : undefined;

/** The endpoint that nobody wrote. */
const endpointOf = (chosen: Topology | undefined): Written =>
  presetOf(chosen).endpoint === "load-balancer"
    ? { kind: "load-balancer", public: true }
    : { kind: "floating-ip" };

/** What the defaults of an endpoint are that depend on other values. */
export function withDefaults(of: {
  readonly name: string;
  readonly topology?: Topology | undefined;
  readonly endpoint?: Written | undefined;
  readonly apiName?: string | undefined;
  readonly loadBalancer: { readonly provider: string };
}): { endpoint: EndpointSpec; apiName: string } {
  const { loadBalancer: services } = of;
  const written = of.endpoint ?? endpointOf(of.topology);
  return {
    endpoint:
      written.kind === "load-balancer"
        ? { ...written, provider: written.provider ?? services.provider }
        : written,
    apiName: of.apiName ?? dnsNameOf(written) ?? `api.${of.name}.internal`,
  };
}
