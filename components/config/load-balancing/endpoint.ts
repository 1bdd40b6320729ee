import { Address4, Address6 } from "ip-address";
import { z } from "zod";
import { flavorAndZoneSchemas } from "./flavor-and-zone-schemas.js";
import { getTopologyDefaults, type Topology } from "../topology.js";
import {
  ipv4AddressField,
  doc,
  unknownKindError,
  nonEmptyTextField,
  strictObject,
  textField,
  booleanField,
  inputField,
} from "../../schema/fields.js";

const label = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/**
 * Returns whether the value is an RFC 1123 subdomain. Refuses a text whose last label is a number,
 * such as an IPv4 address.
 */
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

/**
 * Option `public` of the endpoints `load-balancer` and `virtual-ip`. These endpoints have an
 * address in the machines' network.
 */
const open = booleanField()
  .default(true)
  .meta(
    doc(
      "in place",
      "With `load-balancer` and `virtual-ip`: whether a floating IP leads to the address from outside, for clients in `allowedCidrs`.",
    ),
  );

/** Option `floatingIp` of the endpoints `floating-ip`, `load-balancer` and `virtual-ip`. */
const floating = inputField(ipv4AddressField)
  .optional()
  .meta(
    doc(
      "refused",
      "With `floating-ip`, `load-balancer` and `virtual-ip`: a floating IP that the project already has. The program only attaches it, and neither changes nor deletes it.",
      "the program creates one",
    ),
  );

const floatingIpSchema = strictObject({ kind: z.literal("floating-ip"), floatingIp: floating });

const loadBalancerSchema = strictObject({
  kind: z.literal("load-balancer"),
  provider: nonEmptyTextField("an Octavia provider")
    .optional()
    .meta(
      doc(
        "in place",
        "With `load-balancer`: Octavia provider of the API's load balancer. A change recreates the load balancer; meanwhile the API cannot be reached from outside.",
        "that of `loadBalancer`",
      ),
    ),
  ...flavorAndZoneSchemas(
    "load-balancer",
    "A change recreates the load balancer; meanwhile the API cannot be reached from outside.",
  ),
  public: open,
  floatingIp: floating,
});

const virtualIpSchema = strictObject({
  kind: z.literal("virtual-ip"),
  address: ipv4AddressField
    .optional()
    .meta(
      doc(
        "in place",
        "With `virtual-ip`: the virtual address, a free one of `network.nodes`.",
        "Neutron chooses",
      ),
    ),
  public: open,
  floatingIp: floating,
});

const existingEndpointSchema = strictObject({
  kind: z.literal("existing"),
  host: inputField(
    textField(
      (value) => isAddress(value) || isDnsName(value),
      "is neither an IP address nor a DNS name; write one like 203.0.113.7 or api.example.org",
      "write the address or DNS name of the balancer, like 203.0.113.7 or api.example.org",
    ),
  ).meta(
    doc(
      "in place",
      "With `existing`: address or DNS name of your load balancer, which forwards port 6443 to the control planes. It must also answer inside the network.",
      "**required** for `existing`",
    ),
  ),
});

const privateEndpointSchema = strictObject({ kind: z.literal("private") });

const kinds = ["floating-ip", "load-balancer", "virtual-ip", "existing", "private"] as const;

/** Endpoint of the Kubernetes API. components/endpoint has a class for each `kind`. */
export const endpointSchema = z
  .discriminatedUnion(
    "kind",
    [
      floatingIpSchema,
      loadBalancerSchema,
      virtualIpSchema,
      existingEndpointSchema,
      privateEndpointSchema,
    ],
    {
      error: unknownKindError("endpoint", kinds),
    },
  )
  .optional()
  .meta(
    doc(
      "in place",
      "How the API is reached. `floating-ip`: a floating IP on the first control plane. `load-balancer`: an Octavia load balancer in the machines' subnet. `virtual-ip`: an address that keepalived moves between the control planes. `existing`: your own load balancer. `private`: not from outside; the program must run in a network that reaches the machines.",
      "`kind: floating-ip`; `kind: load-balancer` with the topology `ha`",
    ),
  );

export const apiNameSchema = textField(
  isDnsName,
  "is not a DNS name; use lower-case letters, digits and dashes between dots, like api.dev.internal",
)
  .optional()
  .meta(
    doc(
      "refused",
      "DNS name of the API inside the cluster, which the machines resolve themselves.",
      "`api.<name>.internal`; with an `existing` DNS name, that one",
    ),
  );

type Written = NonNullable<z.output<typeof endpointSchema>>;
/** Endpoint with every default filled in. */
export type EndpointSpec =
  | Exclude<Written, { kind: "load-balancer" }>
  | (Extract<Written, { kind: "load-balancer" }> & { provider: string });

/**
 * Returns the DNS name of an endpoint of the kind `existing`. Returns undefined if `host` is an
 * address. Machines ask DNS for the name, because the program does not add the name to /etc/hosts.
 */
export const getEndpointDnsName = (spec: Written | undefined): string | undefined =>
  spec?.kind === "existing" && isDnsName(spec.host) ? spec.host : undefined;

/** Returns the existing floating IP that the user wrote for the endpoint. */
export const getEndpointFloatingIp = (endpoint: EndpointSpec): string | undefined =>
  "floatingIp" in endpoint ? endpoint.floatingIp : undefined;

/** Returns the default endpoint of a topology. */
const endpointOf = (chosen: Topology | undefined): Written =>
  getTopologyDefaults(chosen).endpoint === "load-balancer"
    ? { kind: "load-balancer", public: true }
    : { kind: "floating-ip" };

/**
 * Returns the endpoint and the DNS name of the API. Fills in the defaults that depend on other
 * arguments.
 */
export function fillEndpointDefaults(of: {
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
    apiName: of.apiName ?? getEndpointDnsName(written) ?? `api.${of.name}.internal`,
  };
}
