import { z } from "zod";
import { balancingMethods } from "./cloud-conf.js";
import { address4, doc, oneOf, present, record, truth, whole } from "../arguments/values.js";

/*
 * How the sample services reach their clients, as a person would write it on a service of their own: the annotations of
 * cloud-provider-openstack 1.36 (pkg/openstack/loadbalancer.go), which give values back that nobody writes
 * (`load-balancer-address`) or that another argument stands for (`openstack-internal-load-balancer`).
 */

const on = <Schema extends z.ZodType>(schema: Schema, description: string) =>
  schema.optional().meta(doc("in place", description, "that of `loadBalancer`"));
const id = (what: string): z.ZodType<string, string> => present(`the ID of ${what}`);
const milliseconds = (what: string) =>
  on(whole(0, "a number of milliseconds"), `Milliseconds that ${what}.`);

/** Those that a program behind the service need not know of. */
const before = {
  class: on(present("a class of `loadBalancer.classes`"), "A class of `loadBalancer.classes`."),
  floatingNetworkId: on(id("an external network"), "ID of the network of the floating IP."),
  floatingSubnetId: on(id("a subnet"), "ID of the subnet of the floating IP."),
  floatingSubnet: on(present("a pattern of names"), "Pattern of that subnet's name."),
  floatingSubnetTags: on(present("tags"), "Tags of that subnet."),
  networkId: on(id("a network"), "ID of the network of the address."),
  subnetId: on(id("a subnet"), "ID of the subnet of the address."),
  portId: on(id("a port"), "ID of a port of yours whose address it is."),
  loadBalancerId: on(id("a load balancer"), "ID of a load balancer that is shared."),
  keepFloatingip: on(truth(), "Whether the floating IP outlives the service."),
  connectionLimit: on(whole(-1, "a number of connections"), "Connections at once; -1 is no limit."),
};
/** Those for a program that speaks HTTP, and trusts who tells it clients' addresses. */
const telling = {
  proxyProtocol: on(z.enum(["true", "v1", "v2"]), "Version of the proxy protocol to the pods."),
  xForwardedFor: on(truth(), "Whether pods are told the client's address by an HTTP header."),
  defaultTlsContainerRef: on(
    present("a container of Barbican"),
    "Container or secret of Barbican with the certificate by which the load balancer ends TLS, at every port; pods get HTTP.",
  ),
};
const others = {
  lbMethod: on(oneOf(balancingMethods), "How connections are spread."),
  timeoutClientData: milliseconds("a client may be silent"),
  timeoutMemberConnect: milliseconds("a connection to a machine may take"),
  timeoutMemberData: milliseconds("a machine may be silent"),
  timeoutTcpInspect: milliseconds("are waited for more to inspect"),
  enableHealthMonitor: on(truth(), "Whether machines are asked for their health."),
  healthMonitorDelay: on(whole(1, "a number of seconds"), "Seconds between two questions."),
  healthMonitorTimeout: on(whole(1, "a number of seconds"), "Seconds that an answer may take."),
  healthMonitorMaxRetries: on(
    whole(1, "a number of answers", 10),
    "Answers after which a machine is in.",
  ),
  healthMonitorMaxRetriesDown: on(
    whole(1, "a number of answers", 10),
    "Failures after which it is out.",
  ),
  flavorId: on(id("a flavor of Octavia"), "Octavia flavor."),
  availabilityZone: on(present("a zone of Octavia"), "Octavia zone."),
  hostname: on(present("a DNS name"), "Name that is shown instead of the address."),
  nodeSelector: on(present("labels"), "Labels of the machines behind it."),
};
export const annotations = { ...before, ...telling, ...others };
export const unknowing = { ...before, ...others };

export const memberSubnetId = "is the machines' own subnet, which the program knows; leave it out";

export const sampleServices = record({
  external: truth()
    .optional()
    .meta(
      doc(
        "in place",
        "Whether one of the sample services has a floating IP. `false` for a cloud in which floating IPs cannot be used.",
        "`true`",
      ),
    ),
  address: address4
    .optional()
    .meta(
      doc(
        "in place",
        "A floating IP of yours, which that service gets and gives back.",
        "a new one",
      ),
    ),
  annotations: record(annotations, { memberSubnetId }).optional(),
}).prefault({});

export type SampleServices = z.output<typeof sampleServices>;
