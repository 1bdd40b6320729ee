import { z } from "zod";
import {
  doc,
  list,
  oneOf,
  present,
  range,
  record,
  text,
  truth,
  whole,
} from "../arguments/values.js";

/*
 * Every key of cloud.conf that a cluster can be told, by section: the one table. The schema is made of it, and its names in the
 * file follow from it (`confKey`). What is not here is the program's own, and refused with a sentence (`owned`).
 * Source: the `gcfg` tags of cloud-provider-openstack 1.36 (test/fixtures/cloud-conf-keys-1.36.txt).
 */

/** Keys that are called otherwise in the file than here, where their section says what they are about. */
const renamed: Readonly<Record<string, string>> = {
  provider: "lb-provider",
  method: "lb-method",
};

/** The name in cloud.conf: `floating-subnet-id` of `floatingSubnetId`. */
export const confKey = (key: string): string =>
  renamed[key] ?? key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const services = "in place";
const optional = <Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  otherwise: string,
): z.ZodOptional<Schema> => schema.optional().meta(doc(services, description, otherwise));

const isDuration = (value: string): boolean => /^(\d+(ms|s|m|h))+$/.test(value);
const duration = text(isDuration, "is not a length of time; write one like 5s");
const uuid = (what: string): z.ZodType<string, string> => present(`the ID of ${what}`);

/** Where load balancers get their addresses: for all services, and for those of one class. */
const places = {
  floatingNetworkId: optional(
    uuid("an external network"),
    "ID of the external network of the services' floating IPs.",
    "that of `externalNetwork`",
  ),
  floatingSubnetId: optional(
    uuid("a subnet of the external network"),
    "Subnet of the external network that floating IPs are taken from.",
    "any",
  ),
  floatingSubnet: optional(
    present("a pattern of names of subnets"),
    "Pattern of the names of such subnets; a regular expression after `~`.",
    "any",
  ),
  floatingSubnetTags: optional(
    present("tags of subnets"),
    "Tags of such subnets, with commas between them; `!` before one that it must not have.",
    "any",
  ),
  networkId: optional(
    uuid("a network"),
    "ID of the network of the load balancers' addresses, where `subnetId` is not enough.",
    "that of the machines",
  ),
  subnetId: optional(
    uuid("a subnet"),
    "ID of the subnet of the load balancers' addresses.",
    "that of the machines",
  ),
} as const;

/** How Octavia spreads connections. */
export const balancingMethods = [
  "ROUND_ROBIN",
  "LEAST_CONNECTIONS",
  "SOURCE_IP",
  "SOURCE_IP_PORT",
] as const;

const monitor = {
  createMonitor: optional(
    truth(),
    "Whether load balancers ask the machines for their health. Without it `externalTrafficPolicy: Local` leads to machines without a pod.",
    "`true`",
  ),
  monitorDelay: optional(duration, "How often they ask.", "`5s`"),
  monitorTimeout: optional(duration, "How long an answer may take.", "`3s`"),
  monitorMaxRetries: optional(
    whole(1, "a number of answers", 10),
    "Answers after which a machine is in again, 1 to 10.",
    "`1`",
  ),
  monitorMaxRetriesDown: optional(
    whole(1, "a number of answers", 10),
    "Failures after which a machine is out, 1 to 10.",
    "`3`",
  ),
} as const;

/** [LoadBalancer], but `enabled` and `provider`, which other arguments depend on. */
export const loadBalancerKeys = {
  method: optional(
    oneOf(balancingMethods),
    "How connections are spread: `ROUND_ROBIN`, `LEAST_CONNECTIONS`, `SOURCE_IP`, `SOURCE_IP_PORT`.",
    "`ROUND_ROBIN`; `SOURCE_IP_PORT` with `ovn`, which knows nothing else",
  ),
  ...places,
  ...monitor,
  internalLb: optional(
    truth(),
    "Services get no floating IP, and those that have one lose it: for a cloud whose floating IPs cannot be used.",
    "`false`",
  ),
  nodeSelector: optional(
    present("labels of machines"),
    "Labels of the machines behind load balancers: `key=value` or `key`, with commas between them.",
    "all machines",
  ),
  cascadeDelete: optional(
    truth(),
    "Whether Octavia deletes a load balancer with all its parts at once.",
    "`true`",
  ),
  flavorId: optional(uuid("a flavor of Octavia"), "Octavia flavor.", "Octavia's default"),
  availabilityZone: optional(present("a zone of Octavia"), "Octavia zone.", "Octavia's default"),
  enableIngressHostname: optional(
    truth(),
    "Services with the proxy protocol are shown by a name instead of an address, so that pods use them through the load balancer.",
    "`false`",
  ),
  ingressHostnameSuffix: optional(present("a DNS suffix"), "End of that name.", "`nip.io`"),
  defaultTlsContainerRef: optional(
    present("the address of a container or secret of Barbican"),
    "Container or secret of Barbican with the certificate by which load balancers end TLS, at every port of every service that does not say otherwise.",
    "load balancers pass TLS on",
  ),
  containerStore: optional(
    z.enum(["barbican", "external"], { error: "is no store; write barbican or external" }),
    "Where that container is: `external` is not looked up.",
    "`barbican`",
  ),
  maxSharedLb: optional(
    whole(1, "a number of services"),
    "Services that may share a load balancer.",
    "`2`",
  ),
  providerRequiresSerialApiCalls: optional(
    truth(),
    "For Octavia providers that cannot make a load balancer with all its parts at once. The cloud controller makes one after another then, instead of up to five at the same time.",
    "`false`",
  ),
} as const;

/** [LoadBalancerClass "name"]: what a service takes by the annotation `loadbalancer.openstack.org/class`. */
const className = text(
  (value) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(value),
  "is not the name of a class; use lower-case letters, digits and dashes",
);
/** The class by which a Service stays in the machines' network, where there is another one for the addresses of services. */
export const machinesClass = "machines";
const members = "the machines' own subnet, which the program knows; leave it out";
export const loadBalancerClasses = z
  .record(
    className,
    // The subnet of all load balancers would win over another network.
    record(places, { memberSubnetId: members }).refine(
      ({ networkId, subnetId }) => networkId === undefined || subnetId !== undefined,
      { path: ["networkId"], error: "does not say which subnet of it; write subnetId, too" },
    ),
    {
      error: ({ code }) =>
        code === "invalid_key"
          ? "is not the name of a class; use lower-case letters, digits and dashes"
          : "is not a map of classes; write one like `internal: {subnetId: ...}`",
    },
  )
  .optional();

const osEndpointType = z.enum(["public", "internal", "admin"], {
  error: "is no kind of endpoint; write public, internal or admin",
});
const searchOrders = [
  "configDrive,metadataService",
  "metadataService,configDrive",
  "configDrive",
  "metadataService",
] as const;
const networkNames = (kind: string, which: string, otherwise: string) =>
  optional(
    list(present("the name of a network"), 1, "a list of networks' names"),
    `Names of networks whose addresses are the nodes' ${kind} addresses${which}.`,
    otherwise,
  );

/** The sections that have nothing to do with load balancers. */
export const otherSections = {
  global: {
    osEndpointType: optional(
      osEndpointType,
      "Which endpoints of the catalog the cluster's controllers use.",
      "`public`",
    ),
    tlsInsecure: optional(
      truth(),
      "Whether the controllers accept any certificate of the cloud. Better: `cacert` in clouds.yaml.",
      "`false`",
    ),
  },
  networking: {
    publicNetworkName: networkNames("external", "", "floating IPs and those of external networks"),
    internalNetworkName: networkNames(
      "internal",
      ", where machines have several",
      "those of all networks",
    ),
    addressSortOrder: optional(
      list(range("10.0.0.0/8"), 1, "a list of ranges"),
      "Ranges in the order in which nodes' addresses are listed.",
      "Nova's order",
    ),
    ipv6SupportDisabled: optional(truth(), "Leaves IPv6 addresses of nodes out.", "`false`"),
  },
  metadata: {
    searchOrder: optional(
      z.enum(searchOrders, { error: `is no order; write one of ${searchOrders.join(" or ")}` }),
      "Where a machine's own data are looked up.",
      "`configDrive,metadataService`",
    ),
    requestTimeout: optional(duration, "How long an answer of the cloud may take.", "no limit"),
  },
  blockStorage: {
    nodeVolumeAttachLimit: optional(
      whole(1, "a number of volumes").refine((value) => value <= 256, {
        error: "is more than Cinder CSI knows; write at most 256",
      }),
      "Volumes of claims that each node takes; the scheduler gives it no more. With virtio-blk a machine of KVM has slots for about 25 disks, its own among them (the disk that it boots from, `runtimeVolume`, `etcdVolume`; `network.admin` takes one, too); with virtio-scsi (`hw_disk_bus=scsi` of the image) many more: write up to 256. An operator may allow less (Nova's `max_disk_devices_to_attach`, few ports of q35 machines). Another one restarts the driver on the nodes; pods and volumes stay.",
      "`24`, less what the node with most volumes has besides its disk",
    ),
    rescanOnResize: optional(
      truth(),
      "Whether a machine looks at a volume's size again before it grows the file system.",
      "`false`",
    ),
    ignoreVolumeAz: optional(
      truth(),
      "For clouds whose zones of Cinder are others than Nova's: a volume is taken to be reachable from every machine that a class allows.",
      "`false`",
    ),
    ignoreVolumeMicroversion: optional(truth(), "For a Cinder older than 3.34.", "`false`"),
  },
  keyManager: {
    keyId: optional(
      uuid("a secret of Barbican"),
      "Barbican key for a KMS plugin of your own that reads the same configuration.",
      "none",
    ),
  },
} as const;

const credential = "comes from the cloud and the credential that the program works with";
const login = [
  ...["authUrl", "region", "userId", "username", "password", "tenantId", "tenantName", "domainId"],
  ...["domainName", "tenantDomainId", "tenantDomainName", "userDomainId", "userDomainName"],
  ...["trustId", "trusteeId", "trusteePassword", "token", "useClouds", "cloudsFile", "cloud"],
  ...["applicationCredentialId", "applicationCredentialName", "applicationCredentialSecret"],
];

/** Keys that the program writes itself or that cannot work with what it makes, with the reason that people read. */
export const owned = {
  global: {
    ...Object.fromEntries(login.map((key) => [key, credential])),
    caFile: "comes from `cacert` of the cloud in clouds.yaml",
    certFile: "comes from `cert` of the cloud in clouds.yaml",
    keyFile: "comes from `key` of the cloud in clouds.yaml",
  },
  loadBalancer: {
    memberSubnetId: members,
    lbVersion: "has one value; leave it out",
    manageSecurityGroups:
      "puts security groups on the machines' ports, which are the program's; the node ports are open to load balancers anyway",
  },
  route: { routerId: "is not written: `podNetwork: cloud-routes` takes the cluster's own router" },
} as const;
