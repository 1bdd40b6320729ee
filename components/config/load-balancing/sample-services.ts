import { z } from "zod";
import { balancingMethods } from "../cloud/cloud-conf-keys.js";
import {
  address4,
  doc,
  oneOf,
  nonEmptyText,
  record,
  booleanField,
  wholeNumber,
} from "../../schema/fields.js";

/*
 * Annotations that a user can set on the Services of the samples and of the ingress controller: the
 * annotations of cloud-provider-openstack 1.36 (pkg/openstack/loadbalancer.go), except those that
 * the cloud controller sets itself (`load-balancer-address`) or that follow from another argument
 * (`openstack-internal-load-balancer`).
 */

const on = <Schema extends z.ZodType>(schema: Schema, description: string) =>
  schema.optional().meta(doc("in place", description, "that of `loadBalancer`"));
const id = (what: string): z.ZodType<string, string> => nonEmptyText(`the ID of ${what}`);
const milliseconds = (what: string) =>
  on(wholeNumber(0, "a number of milliseconds"), `Milliseconds that ${what}.`);

/** Annotations that pods behind the Service need not support, like those in `others`. */
const before = {
  class: on(
    nonEmptyText("a class of `loadBalancer.classes`"),
    "Class of the load balancer, from `loadBalancer.classes`.",
  ),
  floatingNetworkId: on(id("an external network"), "ID of the network of the floating IP."),
  floatingSubnetId: on(id("a subnet"), "ID of the subnet of the floating IP."),
  floatingSubnet: on(
    nonEmptyText("a pattern of names"),
    "Pattern of the name of the floating IP's subnet.",
  ),
  floatingSubnetTags: on(nonEmptyText("tags"), "Tags of the floating IP's subnet."),
  networkId: on(id("a network"), "ID of the network of the load balancer's address."),
  subnetId: on(id("a subnet"), "ID of the subnet of the load balancer's address."),
  portId: on(id("a port"), "ID of a port of yours whose address the load balancer uses."),
  loadBalancerId: on(id("a load balancer"), "ID of a load balancer that the Service shares."),
  keepFloatingip: on(
    booleanField(),
    "Whether the floating IP is kept when the Service is deleted.",
  ),
  connectionLimit: on(
    wholeNumber(-1, "a number of connections"),
    "Connections at the same time; -1 means no limit.",
  ),
};
/**
 * Annotations that pods behind the Service must support: pods receive HTTP instead of TLS, or the
 * client's address in the proxy protocol or in an HTTP header.
 */
const telling = {
  proxyProtocol: on(
    z.enum(["true", "v1", "v2"]),
    "Version of the proxy protocol that pods receive.",
  ),
  xForwardedFor: on(booleanField(), "Whether pods receive the client's address in an HTTP header."),
  defaultTlsContainerRef: on(
    nonEmptyText("a container of Barbican"),
    "Barbican container or secret with the certificate with which the load balancer terminates TLS, on every port; pods receive HTTP.",
  ),
};
const others = {
  lbMethod: on(oneOf(balancingMethods), "Method that distributes connections."),
  timeoutClientData: milliseconds("a client may be silent"),
  timeoutMemberConnect: milliseconds("a connection to a machine may take"),
  timeoutMemberData: milliseconds("a machine may be silent"),
  timeoutTcpInspect: milliseconds("are waited for more to inspect"),
  enableHealthMonitor: on(
    booleanField(),
    "Whether the load balancer checks the health of the machines.",
  ),
  healthMonitorDelay: on(
    wholeNumber(1, "a number of seconds"),
    "Seconds between two health checks.",
  ),
  healthMonitorTimeout: on(
    wholeNumber(1, "a number of seconds"),
    "Seconds after which a health check without an answer has failed.",
  ),
  healthMonitorMaxRetries: on(
    wholeNumber(1, "a number of answers", 10),
    "Successful checks after which a machine gets connections.",
  ),
  healthMonitorMaxRetriesDown: on(
    wholeNumber(1, "a number of answers", 10),
    "Failed checks after which a machine gets no connections.",
  ),
  flavorId: on(id("a flavor of Octavia"), "Octavia flavor."),
  availabilityZone: on(nonEmptyText("a zone of Octavia"), "Octavia zone."),
  hostname: on(
    nonEmptyText("a DNS name"),
    "Host name in the Service's status instead of the address.",
  ),
  nodeSelector: on(nonEmptyText("labels"), "Labels of the machines behind the load balancer."),
};
export const annotations = { ...before, ...telling, ...others };
export const unknowing = { ...before, ...others };

export const memberSubnetId = "is the machines' own subnet, which the program knows; leave it out";

export const sampleServices = record({
  external: booleanField()
    .optional()
    .meta(
      doc(
        "in place",
        "Whether one of the sample Services has a floating IP. `false` for a cloud in which floating IPs cannot be used.",
        "`true`",
      ),
    ),
  address: address4
    .optional()
    .meta(
      doc(
        "in place",
        "A floating IP that you own, which that Service uses and releases again.",
        "a new one",
      ),
    ),
  annotations: record(annotations, { memberSubnetId }).optional(),
}).prefault({});

export type SampleServices = z.output<typeof sampleServices>;
