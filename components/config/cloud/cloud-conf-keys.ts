import { z } from "zod";
import {
  doc,
  list,
  oneOf,
  nonEmptyTextField,
  ipRangeField,
  strictObject,
  textField,
  booleanField,
  integerField,
} from "../../schema/fields.js";

/*
 * All keys of cloud.conf that a user can set, by section. `getCloudConfKey` derives the names in
 * cloud.conf from the names here. Users must not set the keys in `reservedCloudConfKeys`.
 * Source: the `gcfg` tags of cloud-provider-openstack 1.36
 * (test/fixtures/cloud-conf-keys-1.36.txt).
 */

/** Names in cloud.conf that `getCloudConfKey` cannot derive, because they have the prefix `lb-`. */
const renamed: Readonly<Record<string, string>> = {
  provider: "lb-provider",
  method: "lb-method",
};

/** Returns the name of a key in cloud.conf: `floating-subnet-id` for `floatingSubnetId`. */
export const getCloudConfKey = (key: string): string =>
  renamed[key] ?? key.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);

const services = "in place";
const optional = <Schema extends z.ZodType>(
  schema: Schema,
  description: string,
  otherwise: string,
): z.ZodOptional<Schema> => schema.optional().meta(doc(services, description, otherwise));

const isDuration = (value: string): boolean => /^(\d+(ms|s|m|h))+$/.test(value);
const duration = textField(isDuration, "is not a length of time; write one like 5s");
const uuid = (what: string): z.ZodType<string, string> => nonEmptyTextField(`the ID of ${what}`);

/**
 * Keys for the networks of load balancers. Users set them for all Services, or for one load
 * balancer class.
 */
const loadBalancerNetworkSchemas = {
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
    nonEmptyTextField("a pattern of names of subnets"),
    "Pattern that names of subnets for floating IPs match; a regular expression after `~`.",
    "any",
  ),
  floatingSubnetTags: optional(
    nonEmptyTextField("tags of subnets"),
    "Tags that subnets for floating IPs have, separated by commas; `!` before a tag that a subnet must not have.",
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

/** Methods with which Octavia distributes connections. */
export const balancingMethods = [
  "ROUND_ROBIN",
  "LEAST_CONNECTIONS",
  "SOURCE_IP",
  "SOURCE_IP_PORT",
] as const;

const monitor = {
  createMonitor: optional(
    booleanField(),
    "Whether load balancers check the health of the machines. Without it `externalTrafficPolicy: Local` leads to machines without a pod.",
    "`true`",
  ),
  monitorDelay: optional(duration, "Time between two health checks.", "`5s`"),
  monitorTimeout: optional(duration, "Time limit of a health check.", "`3s`"),
  monitorMaxRetries: optional(
    integerField(1, "a number of answers", 10),
    "Successful checks after which a machine gets connections again, 1 to 10.",
    "`1`",
  ),
  monitorMaxRetriesDown: optional(
    integerField(1, "a number of answers", 10),
    "Failed checks after which a machine gets no connections, 1 to 10.",
    "`3`",
  ),
} as const;

/**
 * Keys of the section [LoadBalancer]. cloud.ts adds `enabled` and `provider`, on which other
 * arguments depend.
 */
export const loadBalancerKeySchemas = {
  method: optional(
    oneOf(balancingMethods),
    "Method that distributes connections: `ROUND_ROBIN`, `LEAST_CONNECTIONS`, `SOURCE_IP`, `SOURCE_IP_PORT`.",
    "`ROUND_ROBIN`; `SOURCE_IP_PORT` with `ovn`, which supports no other method",
  ),
  ...loadBalancerNetworkSchemas,
  ...monitor,
  internalLb: optional(
    booleanField(),
    "Services get no floating IP, and Services that have one lose it: for a cloud whose floating IPs cannot be used.",
    "`false`",
  ),
  nodeSelector: optional(
    nonEmptyTextField("labels of machines"),
    "Labels of the machines behind load balancers: `key=value` or `key`, separated by commas.",
    "all machines",
  ),
  cascadeDelete: optional(
    booleanField(),
    "Whether Octavia deletes a load balancer with all its parts at once.",
    "`true`",
  ),
  flavorId: optional(uuid("a flavor of Octavia"), "Octavia flavor.", "Octavia's default"),
  availabilityZone: optional(
    nonEmptyTextField("a zone of Octavia"),
    "Octavia zone.",
    "Octavia's default",
  ),
  enableIngressHostname: optional(
    booleanField(),
    "Services that use the proxy protocol get a host name instead of an address in their status, so that pods reach them through the load balancer.",
    "`false`",
  ),
  ingressHostnameSuffix: optional(
    nonEmptyTextField("a DNS suffix"),
    "Suffix of that host name.",
    "`nip.io`",
  ),
  defaultTlsContainerRef: optional(
    nonEmptyTextField("the address of a container or secret of Barbican"),
    "Barbican container or secret with the certificate with which load balancers terminate TLS, on every port of every Service that does not set its own.",
    "load balancers pass TLS on",
  ),
  containerStore: optional(
    z.enum(["barbican", "external"], { error: "is no store; write barbican or external" }),
    "Where that container is stored: `external` is not looked up.",
    "`barbican`",
  ),
  maxSharedLb: optional(
    integerField(1, "a number of services"),
    "Services that may share a load balancer.",
    "`2`",
  ),
  providerRequiresSerialApiCalls: optional(
    booleanField(),
    "For Octavia providers that cannot create a load balancer with all its parts in one request. The cloud controller then creates the load balancers of Services one after another instead of up to five at the same time.",
    "`false`",
  ),
} as const;

/**
 * Name of a load balancer class. A class is a section [LoadBalancerClass "name"] of cloud.conf. A
 * Service selects a class by the annotation `loadbalancer.openstack.org/class`.
 */
const className = textField(
  (value) => /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/.test(value),
  "is not the name of a class; use lower-case letters, digits and dashes",
);
/**
 * Name of the class for load balancers in the machines' network. The program adds this class if
 * load balancers have a separate network.
 */
export const machinesLoadBalancerClass = "machines";
const members = "the machines' own subnet, which the program knows; leave it out";
export const loadBalancerClassesSchema = z
  .record(
    className,
    // With `networkId` alone, the load balancers would still be in the subnet that is set for all
    // Services.
    strictObject(loadBalancerNetworkSchemas, { memberSubnetId: members }).refine(
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

const osEndpointTypeSchema = z.enum(["public", "internal", "admin"], {
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
    list(nonEmptyTextField("the name of a network"), 1, "a list of networks' names"),
    `Names of networks whose addresses are the nodes' ${kind} addresses${which}.`,
    otherwise,
  );

/** Keys of all other sections of cloud.conf, by section. */
export const cloudConfSectionSchemas = {
  global: {
    osEndpointType: optional(
      osEndpointTypeSchema,
      "Kind of the catalog's endpoints that the cluster's controllers use.",
      "`public`",
    ),
    tlsInsecure: optional(
      booleanField(),
      "Whether the controllers accept any TLS certificate of the cloud. Setting `cacert` in clouds.yaml is better.",
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
      list(ipRangeField("10.0.0.0/8"), 1, "a list of ranges"),
      "Ranges in the order in which nodes' addresses are listed.",
      "Nova's order",
    ),
    ipv6SupportDisabled: optional(
      booleanField(),
      "Leaves out the IPv6 addresses of nodes.",
      "`false`",
    ),
  },
  metadata: {
    searchOrder: optional(
      z.enum(searchOrders, { error: `is no order; write one of ${searchOrders.join(" or ")}` }),
      "Sources from which a machine reads its own metadata, in this order.",
      "`configDrive,metadataService`",
    ),
    requestTimeout: optional(duration, "Time limit for an answer of the cloud.", "no limit"),
  },
  blockStorage: {
    nodeVolumeAttachLimit: optional(
      integerField(1, "a number of volumes").refine((value) => value <= 256, {
        error: "is more than Cinder CSI accepts; write at most 256",
      }),
      "Volumes of claims that the scheduler places on each node at most. With virtio-blk a KVM machine has slots for about 25 disks, including its own (the boot disk, `runtimeVolume`, `etcdVolume`; `network.admin` takes a slot, too); with virtio-scsi (`hw_disk_bus=scsi` of the image) it has many more: write up to 256. The cloud may allow less (Nova's `max_disk_devices_to_attach`, few ports of q35 machines). A change restarts the driver on the nodes; pods and volumes are kept.",
      "`24`, less the highest number of volumes that a node has in addition to its disk",
    ),
    rescanOnResize: optional(
      booleanField(),
      "Whether a machine reads a volume's size again before it grows the file system.",
      "`false`",
    ),
    ignoreVolumeAz: optional(
      booleanField(),
      "For clouds whose Cinder zones differ from the Nova zones: every machine that a class allows is assumed to reach a volume.",
      "`false`",
    ),
    ignoreVolumeMicroversion: optional(booleanField(), "For a Cinder older than 3.34.", "`false`"),
  },
  keyManager: {
    keyId: optional(
      uuid("a secret of Barbican"),
      "Barbican key for your own KMS plugin that reads the same configuration.",
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

/**
 * Keys that users must not set, each with its error message. Either the program sets the key
 * itself, or the key would break objects that the program creates.
 */
export const reservedCloudConfKeys = {
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
