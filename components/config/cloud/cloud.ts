import { z } from "zod";
import type { EndpointSpec } from "../load-balancing/endpoint.js";
import type { IngressSpec } from "../load-balancing/ingress.js";
import { getTopologyDefaults, type Topology } from "../topology.js";
import {
  loadBalancerClassesSchema,
  loadBalancerKeySchemas,
  machinesLoadBalancerClass,
  cloudConfSectionSchemas,
  reservedCloudConfKeys,
} from "./cloud-conf-keys.js";
import { isOvnProvider } from "../load-balancing/endpoint-traits.js";
import { rangesOverlap, getPrefixLength } from "../../../base/ip-addresses.js";
import {
  defaultOpenstackPlugin,
  openstackPluginVersions,
} from "../../../base/versions/pulumi-openstack-versions.js";
import {
  doc,
  oneOf,
  nonEmptyTextField,
  ipv4RangeField,
  strictObject,
  booleanField,
  inputField,
} from "../../schema/fields.js";

/**
 * Version of the OpenStack plugin. The schema has no default, because the user's program may pass a
 * provider with another version.
 */
export const openstackPluginSchema = oneOf(openstackPluginVersions)
  .optional()
  .meta(
    doc(
      "in place",
      `Version of Pulumi's OpenStack plugin that creates the cluster, independent of the version of \`@pulumi/openstack\` with which the program is compiled. \`3.15.2\` keeps the former version, which waits 5 to 10 s before its first check of each object. With a provider of the program's own: the version of its plugin, if that is not the SDK's.`,
      `\`${defaultOpenstackPlugin}\``,
    ),
  );

/** Separate network for the addresses of load balancers. */
const servicesNetworkSchema = strictObject({
  range: ipv4RangeField("10.1.0.0/24")
    .default("10.1.0.0/24")
    .meta(
      doc(
        "refused",
        "Range of a separate network for the addresses of Services' load balancers. The program creates the network with a subnet and a router; load balancers forward from it to the machines in their network, which by Octavia's documentation `amphora` can do and `ovn` cannot. A Service with the annotation `loadbalancer.openstack.org/class: machines` keeps its load balancer in the machines' network, as the program's own internal ones do. An existing cluster can gain this network, for new load balancers, and then keeps it. For a network that already exists, write `networkId`, `subnetId` and `floatingNetworkId` instead.",
      ),
    ),
  externalNetwork: inputField(nonEmptyTextField("the external network of the services")).meta(
    doc(
      "refused",
      "External network of that router and of the Services' floating IPs, by name or ID; it may be the same as `externalNetwork`.",
      "**required** with `loadBalancer.network`",
    ),
  ),
});

/**
 * Options of Services of type LoadBalancer: keys of the section [LoadBalancer] of cloud.conf, and
 * load balancer classes. Each class is a separate section of cloud.conf.
 */
export const serviceLoadBalancerSchema = strictObject(
  {
    enabled: booleanField()
      .optional()
      .meta(
        doc(
          "refused",
          "Whether load balancers exist. `false` is for a cloud without Octavia: Services of type LoadBalancer get no address, and the API needs another endpoint than `load-balancer`.",
          "`true`",
        ),
      ),
    provider: nonEmptyTextField("an Octavia provider")
      .default("amphora")
      .meta(doc("in place", "Octavia provider for Services of type LoadBalancer.")),
    network: servicesNetworkSchema.optional(),
    ...loadBalancerKeySchemas,
    classes: loadBalancerClassesSchema,
  },
  reservedCloudConfKeys.loadBalancer,
).prefault({});

const { global, networking, metadata, keyManager } = cloudConfSectionSchemas;

/**
 * Keys of the sections of cloud.conf other than [LoadBalancer] and [BlockStorage], and whether the
 * cluster has a cloud controller.
 */
export const cloudControllerSchema = strictObject(
  {
    enabled: booleanField()
      .optional()
      .meta(
        doc(
          "refused",
          "Whether the cluster has a cloud controller. Without it there are no load balancers, nodes have no external address and no zone, and a node whose server was deleted outside Kubernetes is not removed. Volumes work.",
          "`true`",
        ),
      ),
    global: strictObject(global, reservedCloudConfKeys.global).optional(),
    networking: strictObject(networking).optional(),
    metadata: strictObject(metadata).optional(),
    keyManager: strictObject(keyManager).optional(),
  },
  { route: reservedCloudConfKeys.route.routerId },
).prefault({});

interface Ranges {
  readonly network: Readonly<Record<"nodes" | "pods" | "services", string>>;
  readonly loadBalancer: z.output<typeof serviceLoadBalancerSchema>;
  readonly cloudController: { readonly enabled?: boolean | undefined };
}

/**
 * Returns the names of classes with `subnetId` but without `networkId`. Such a class would inherit
 * the ID of the separate network for load balancers, which does not contain the class's subnet.
 */
const classesWithoutNetwork = (classes: NonNullable<Ranges["loadBalancer"]["classes"]>): string[] =>
  Object.entries(classes)
    .filter(([, { subnetId, networkId }]) => subnetId !== undefined && networkId === undefined)
    .map(([name]) => name);

/**
 * Reports settings that contradict `loadBalancer.network`, the separate network for load balancers.
 */
export function findServicesNetworkConflicts(of: Ranges): z.core.$ZodRawIssue[] {
  const { network: separate, provider, ...written } = of.loadBalancer;
  if (!separate) return [];
  const issue = (path: string, input: unknown, message: string): z.core.$ZodRawIssue => ({
    code: "custom",
    path: ["loadBalancer", ...path.split(".")],
    input,
    message,
  });
  const none = written.enabled === false || of.cloudController.enabled === false;
  const near = (["nodes", "pods", "services"] as const)
    .filter((one) => rangesOverlap(separate.range, of.network[one]))
    .map((one) => `overlaps network.${one} (${of.network[one]}); write another range`);
  const small =
    getPrefixLength(separate.range) > 29 ? ["is too small; write a /29 or a larger range"] : [];
  const explicit = (["networkId", "subnetId", "floatingNetworkId"] as const).filter(
    (key) => written[key] !== undefined,
  );
  return [
    ...(none
      ? [issue("network", separate, "is that of load balancers, and there are none; leave it out")]
      : []),
    // OVN load balancers rewrite only the destination address of packets, so replies would go
    // through another router.
    ...(isOvnProvider(provider)
      ? [
          issue(
            "network",
            separate,
            "needs load balancers with a port in each of the two networks, and ovn cannot create them; leave it out, or write another provider",
          ),
        ]
      : []),
    ...[...near, ...small].map((why) =>
      issue("network.range", separate.range, `${separate.range} ${why}`),
    ),
    ...(written.classes?.[machinesLoadBalancerClass]
      ? [
          issue(
            `classes.${machinesLoadBalancerClass}`,
            written.classes[machinesLoadBalancerClass],
            "is the name of the class for the machines' own network when loadBalancer.network is set; give this class another name",
          ),
        ]
      : []),
    ...classesWithoutNetwork(written.classes ?? {}).map((name) =>
      issue(
        `classes.${name}.networkId`,
        undefined,
        "is missing, although loadBalancer.network is set; write the ID of the network of that subnet",
      ),
    ),
    ...explicit.map((key) =>
      issue(key, written[key], "is set by loadBalancer.network; leave one of them out"),
    ),
  ];
}

interface Chosen {
  readonly loadBalancer: { readonly enabled?: boolean | undefined };
  readonly cloudController: { readonly enabled?: boolean | undefined };
  readonly endpoint?: { readonly kind: EndpointSpec["kind"] } | undefined;
  readonly topology?: Topology | undefined;
  readonly samples: boolean;
}

/** Reports settings that need load balancers in a cluster that has none. */
export function findDisabledLoadBalancerConflicts(chosen: Chosen): z.core.$ZodRawIssue[] {
  const withoutController = chosen.cloudController.enabled === false;
  if (chosen.loadBalancer.enabled !== false && !withoutController) return [];
  const kind = chosen.endpoint?.kind ?? getTopologyDefaults(chosen.topology).endpoint;
  const off = `${withoutController ? "cloudController" : "loadBalancer"}.enabled is false`;
  const issue = (path: string, input: unknown, message: string): z.core.$ZodRawIssue => ({
    code: "custom",
    path: [path],
    input,
    message,
  });
  return [
    // The API's load balancer needs no cloud controller, because the program itself creates it.
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

interface Made {
  readonly endpoint: EndpointSpec;
  readonly ingress?: IngressSpec | undefined;
  readonly loadBalancer: { readonly provider: string };
}

/**
 * Reports `flavorId` and `zone` of OVN load balancers. An OVN load balancer consists only of flows
 * in the network, so it has no flavor and no zone.
 */
export function findOvnPlacementConflicts({
  endpoint,
  ingress,
  loadBalancer,
}: Made): z.core.$ZodRawIssue[] {
  const found: Readonly<
    Record<string, { readonly flavorId?: string | undefined; readonly zone?: string | undefined }>
  > = {
    ...(endpoint.kind === "load-balancer" && isOvnProvider(endpoint.provider) && { endpoint }),
    ...(ingress?.kind === "workers" && isOvnProvider(loadBalancer.provider) && { ingress }),
  };
  return Object.entries(found).flatMap(([path, chosen]) =>
    (["flavorId", "zone"] as const).flatMap((key) =>
      chosen[key] === undefined
        ? []
        : [
            {
              code: "custom" as const,
              path: [path, key],
              input: chosen[key],
              message: "is nothing that load balancers of ovn have; leave it out",
            },
          ],
    ),
  );
}
