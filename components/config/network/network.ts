import { z } from "zod";
import { getEndpointTraits } from "../load-balancing/endpoint-traits.js";
import { isPlainObject } from "../../schema/merge-defaults.js";
import type { EndpointSpec } from "../load-balancing/endpoint.js";
import { isIpv6 } from "../../../base/ip-addresses.js";
import { ipv6Schema } from "./ipv6.js";
import type { GroupAtPath } from "../machines/group-options.js";
import { proxySchema } from "../machines/proxy.js";
import {
  ipAddressField,
  doc,
  list,
  nonEmptyTextField,
  ipRangeField,
  clusterIpv4RangeField,
  strictObject,
  securityGroupsField,
  booleanField,
  integerField,
  inputField,
} from "../../schema/fields.js";

/**
 * Existing network of the machines. The program creates only ports in this network. The program
 * does not change or delete the network, its subnet and its router.
 */
/** Maximum number of name servers of a subnet: Neutron's default of `max_dns_nameservers`. */
const mostNameServers = 5;

const existingNetworkSchema = strictObject({
  network: inputField(nonEmptyTextField("a network")).meta(
    doc(
      "refused",
      "An existing network, by name or ID: the machines are placed in it, and nothing of it is created, changed or deleted. In a network of another project, Neutron refuses ports with a chosen address, additional addresses or no filter, unless its operator allows them: `kube-router` needs such ports, `flannel` with `vxlan` does not.",
      "the program creates a network, a subnet and a router",
    ),
  ),
  subnet: inputField(nonEmptyTextField("a subnet"))
    .optional()
    .meta(
      doc(
        "refused",
        "Subnet of that network for the machines, by name or ID. `network.nodes` must be its range.",
        "the one whose range is `network.nodes`",
      ),
    ),
  router: inputField(nonEmptyTextField("a router"))
    .optional()
    .meta(
      doc(
        "refused",
        "Router of that network, by name or ID. It must lead from the network to `externalNetwork`, which is checked before anything is created.",
        "not checked: floating IPs need a router in any case",
      ),
    ),
});

/** Second interface of every machine, in an existing network. */
const adminNetworkSchema = strictObject({
  network: inputField(nonEmptyTextField("a network")).meta(
    doc(
      "refused",
      "An existing network, by name or ID, in which each machine has a second interface for SSH: with an address that Neutron chooses, without default route and DNS servers, and closed to connections that the machine opens. Kubernetes does not use it.",
      "machines have one interface",
    ),
  ),
  subnet: inputField(nonEmptyTextField("a subnet"))
    .optional()
    .meta(
      doc(
        "refused",
        "Subnet of that network, by name or ID. It must not overlap the ranges of `network`.",
        "the only IPv4 subnet of the network",
      ),
    ),
  allowedCidrs: list(
    inputField(ipRangeField("203.0.113.0/24")),
    1,
    "the ranges that may reach SSH there, like [203.0.113.0/24]",
  ).meta(doc("in place", "Ranges that may reach SSH there.", "**required** with `network`")),
});

/** Network of the cluster: options, and address ranges that must not overlap. */
export const networkSchema = strictObject({
  nodes: clusterIpv4RangeField("10.0.0.0/24")
    .default("10.0.0.0/24")
    .meta(doc("refused", "Range of the machines' private network.")),
  pods: clusterIpv4RangeField("10.244.0.0/16")
    .default("10.244.0.0/16")
    .meta(
      doc(
        "refused",
        "Range of the pods; each machine gets a /24 of it, or with Calico blocks of it on demand.",
      ),
    ),
  services: clusterIpv4RangeField("10.96.0.0/12")
    .default("10.96.0.0/12")
    .meta(doc("refused", "Range of the Services' virtual addresses.")),
  dns: list(inputField(ipAddressField), 0, "a list of name servers")
    .max(mostNameServers, {
      error: `has more name servers than Neutron accepts; write at most ${String(mostNameServers)}`,
    })
    .refine((all) => new Set(all).size === all.length, {
      error: "has a name server twice; leave one of them out",
    })
    .default([])
    .meta(
      doc(
        "in place",
        `DNS servers of the machines, at most ${String(mostNameServers)}. Resolvers use only the first three. Empty: the network's own.`,
      ),
    ),
  mtu: integerField(1280, "an MTU in bytes")
    .optional()
    .meta(
      doc(
        "in place",
        "MTU of the machines' network in bytes. Pods have what encapsulation leaves of it. Machines learn a changed MTU when they boot.",
        "Neutron's, for the type of the network",
      ),
    ),
  ipv6: ipv6Schema,
  existing: existingNetworkSchema.optional(),
  admin: adminNetworkSchema.optional(),
  proxy: proxySchema,
  portSecurity: booleanField()
    .default(true)
    .meta(
      doc(
        "refused",
        "Whether Neutron filters traffic at the machines' ports. Without it there are no security groups and no allowed address pairs: everyone with access to the network reaches every port of every machine.",
      ),
    ),
  securityGroups: securityGroupsField("all machines' ports"),
  nodePorts: list(inputField(ipRangeField("203.0.113.0/24")), 0, "ranges that may reach node ports")
    .default([])
    .meta(
      doc(
        "in place",
        "Ranges that may reach Services of type NodePort (30000 to 32767) at the nodes' own addresses. By default these are the nodes and, where there are load balancers (of Services, or of `ingress` on `workers`), everything in `network.nodes`, from which load balancers connect; with the provider `ovn` also the load balancers' clients, `serviceCidrs`.",
      ),
    ),
}).prefault({});

export const externalNetworkSchema = inputField(nonEmptyTextField("the external network"))
  .optional()
  .meta(
    doc(
      "refused",
      "External network, by name or ID, of the router's gateway, the API's floating IP and the load balancers' addresses. Writing its ID instead of its name is no change. Without it, in an `existing` network, there are no floating IPs: everyone with access to the network reaches machines and load balancers.",
      "**required**, except in an `existing` network",
    ),
  );

/**
 * Returns an error if `externalNetwork` is missing although the program creates the network,
 * because the new network's router needs a gateway.
 */
export function findMissingExternalNetworkError(written: unknown): string | undefined {
  if (!isPlainObject(written) || written["externalNetwork"] !== undefined) return undefined;
  const { network: ranges } = written;
  return isPlainObject(ranges) && isPlainObject(ranges["existing"])
    ? undefined
    : "is missing; write the name of the external network";
}

interface Written {
  readonly externalNetwork?: string | undefined;
  readonly allowedCidrs: string[];
  readonly network: z.output<typeof networkSchema>;
  readonly endpoint: EndpointSpec;
}

/**
 * Reports settings that contradict an existing network: options of objects that the program does
 * not create there, and floating IPs without an external network.
 */
export function findExistingNetworkConflicts(of: Written): z.core.$ZodRawIssue[] {
  const { existing, dns, mtu } = of.network;
  if (!existing) return [];
  const wrong = (path: string[], message: string): z.core.$ZodRawIssue => ({
    code: "custom",
    path,
    input: undefined,
    message,
  });
  const { kind } = of.endpoint;
  const instead =
    "public" in of.endpoint ? "`public: false`" : "an endpoint like `{kind: private}`";
  const floats = of.externalNetwork === undefined && getEndpointTraits(of).floatingIps > 0;
  return [
    ...(floats
      ? [
          wrong(
            ["endpoint"],
            `${kind} needs a floating IP, and externalNetwork is missing; write externalNetwork, or ${instead}`,
          ),
        ]
      : []),
    ...(dns.length > 0
      ? [wrong(["network", "dns"], "belongs to the existing subnet; leave it out")]
      : []),
    ...(mtu === undefined
      ? []
      : [wrong(["network", "mtu"], "belongs to the existing network; leave it out")]),
  ];
}

export const findDnsFamilyConflicts = ({
  network: { dns, ipv6: both },
}: Pick<Written, "network">): z.core.$ZodRawIssue[] =>
  dns.flatMap((one, index) =>
    isIpv6(one) && !both
      ? [
          {
            code: "custom" as const,
            path: ["network", "dns", index],
            input: one,
            message: `${one} is of IPv6, which the network has only with network.ipv6; write one of IPv4`,
          },
        ]
      : [],
  );

export interface SecurityGroupArguments {
  readonly securityGroups: readonly string[];
}

/** Reports security groups in a network without port security. Neutron filters no traffic there. */
export function findUnfilteredSecurityGroupConflicts({
  network: ranges,
  groups,
}: {
  readonly network: SecurityGroupArguments & { readonly portSecurity: boolean };
  readonly groups: readonly GroupAtPath<SecurityGroupArguments>[];
}): z.core.$ZodRawIssue[] {
  if (ranges.portSecurity) return [];
  return [{ path: ["network"], group: ranges }, ...groups]
    .filter(({ group }) => group.securityGroups.length > 0)
    .map(({ path, group }) => ({
      code: "custom",
      path: [...path, "securityGroups"],
      input: group.securityGroups,
      message:
        "has no effect, because network.portSecurity is false; leave it out, or let Neutron filter",
    }));
}
