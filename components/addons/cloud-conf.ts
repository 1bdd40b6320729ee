/**
 * Renders cloud.conf, the configuration file of the cloud controller and Cinder CSI (pure
 * functions).
 */

import type { z } from "zod";
import type { CloudLogin } from "../identity/cloud-login.js";
import type { ClusterSpec } from "../config/cluster-spec.js";
import {
  getCloudConfKey,
  machinesLoadBalancerClass,
  type loadBalancerClassesSchema,
  type loadBalancerKeySchemas,
  type cloudConfSectionSchemas,
} from "../config/cloud/cloud-conf-keys.js";

type Written<Shape extends z.core.$ZodLooseShape> = {
  readonly [Key in keyof Shape]?: z.output<Shape[Key]>;
};

/** Settings of the user for cloud.conf, one field for each section of the file. */
export interface CloudConfSettings {
  readonly loadBalancer?: Written<typeof loadBalancerKeySchemas> & { readonly enabled?: boolean };
  readonly loadBalancerClasses?: z.output<typeof loadBalancerClassesSchema>;
  readonly global?: Written<typeof cloudConfSectionSchemas.global>;
  readonly networking?: Written<typeof cloudConfSectionSchemas.networking>;
  readonly metadata?: Written<typeof cloudConfSectionSchemas.metadata>;
  readonly blockStorage?: Written<typeof cloudConfSectionSchemas.blockStorage>;
  readonly keyManager?: Written<typeof cloudConfSectionSchemas.keyManager>;
}

/** Returns the settings for cloud.conf that a specification contains. */
export function getCloudConfSettings(
  spec: Pick<ClusterSpec, "loadBalancer" | "cloudController" | "blockStorage">,
): CloudConfSettings {
  const { classes, ...written } = spec.loadBalancer;
  // cloud.conf has no key `network`. The IDs of this network come from {@link CloudConf}.
  const loadBalancer = { ...written, network: undefined };
  const { nodeVolumeAttachLimit, rescanOnResize, ignoreVolumeAz, ignoreVolumeMicroversion } =
    spec.blockStorage;
  const blockStorage = {
    nodeVolumeAttachLimit,
    rescanOnResize,
    ignoreVolumeAz,
    ignoreVolumeMicroversion,
  };
  const { global, networking, metadata, keyManager } = spec.cloudController;
  const others = { global, networking, metadata, keyManager };
  return { ...others, loadBalancer, loadBalancerClasses: classes, blockStorage };
}

/** Values that cloud controller and Cinder CSI need to use the cloud. */
export interface CloudConf {
  /** URL of Keystone v3. */
  readonly authUrl: string;
  readonly region: string;
  /** Login of the cluster's controllers, which is never the operator's own login. */
  readonly login: CloudLogin;
  /** Subnet from which load balancers get their addresses. */
  readonly subnetId: string;
  /** Network that contains the subnet. */
  readonly networkId: string;
  /**
   * External network from which Services get floating IPs.
   * @default none: load balancers have only addresses in their own network
   */
  readonly floatingNetworkId?: string;
  /**
   * Network of the machines, if load balancers have a separate network. The load balancer class
   * `machines` selects this network.
   * @default the network of the load balancers
   */
  readonly machines?: Pick<CloudConf, "subnetId" | "networkId" | "floatingNetworkId">;
  /**
   * Router on which the cloud controller maintains one route to the pods of each node.
   * @default no routes
   */
  readonly routerId?: string | undefined;
  /** Octavia provider: `amphora`, `ovn`, or a provider name of this cloud. */
  readonly loadBalancerProvider: string;
  /** Path of the cloud's CA certificate in the containers. @default none */
  readonly caFile?: string;
  /** Path of the TLS client certificate in the containers. Requires `keyFile`. @default none */
  readonly certFile?: string;
  /** Path of the client certificate's private key in the containers. @default none */
  readonly keyFile?: string;
  /** Settings of the user, which override the program's values. @default none */
  readonly settings?: CloudConfSettings;
}

type Value = string | number | boolean;
type Section = Readonly<Record<string, Value | readonly string[] | undefined>>;

/** Returns a section whose keys have the names that cloud.conf uses. */
const withConfKeys = (section: Section = {}): Section =>
  Object.fromEntries(
    Object.entries(section)
      // A key without a value would remove the value that the program sets.
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [getCloudConfKey(key), value]),
  );

/**
 * Returns the section [Networking]. A list of CIDRs becomes one value with commas. A list of
 * network names becomes one line for each name.
 */
const networking = ({
  addressSortOrder,
  ...rest
}: CloudConfSettings["networking"] = {}): Section => ({
  ...withConfKeys(rest),
  "address-sort-order": addressSortOrder?.join(","),
});

const isEmpty = (section: Section): boolean =>
  Object.values(section).every((value) => value === undefined);

/**
 * Returns the text of cloud.conf. A key with one value must not appear twice, because the parser
 * would take the last value without an error. Every value is quoted, because `;`, `#` or a blank in
 * a secret would end an unquoted value. Source: the `gcfg` tags in pkg/client/client.go and
 * pkg/openstack/openstack.go of cloud-provider-openstack 1.36.
 */
export function renderCloudConf(conf: CloudConf): string {
  const { settings = {} } = conf;
  const classes = Object.entries({
    ...(conf.machines && { [machinesLoadBalancerClass]: conf.machines }),
    ...settings.loadBalancerClasses,
  });
  return render({
    Global: {
      "auth-url": conf.authUrl,
      region: conf.region,
      ...withConfKeys({ ...conf.login }),
      "ca-file": conf.caFile,
      "cert-file": conf.certFile,
      "key-file": conf.keyFile,
      ...withConfKeys(settings.global),
    },
    LoadBalancer: { ...loadBalancer(conf, settings), ...withConfKeys(settings.loadBalancer) },
    ...Object.fromEntries(
      classes.map(([name, classSettings]) => [
        `LoadBalancerClass "${name}"`,
        { "member-subnet-id": membersOf(conf), ...withConfKeys(classSettings) },
      ]),
    ),
    Route: { "router-id": conf.routerId },
    Networking: networking(settings.networking),
    ...aboutNodes(settings),
    KeyManager: withConfKeys(settings.keyManager),
  });
}

/**
 * Returns the text of cloud.conf for the driver on nodes, without a login. Returns undefined if the
 * driver's defaults suffice.
 *
 * @param attachable maximum number of volumes per node, used if the settings contain none. The
 *   controllers do not need this number, and would restart if their cloud.conf contained it.
 *   Default: the driver's own default
 */
export function renderNodeConf(
  { metadata, blockStorage: written }: CloudConfSettings,
  attachable?: number,
): string | undefined {
  const nodeVolumeAttachLimit = written?.nodeVolumeAttachLimit ?? attachable;
  const blockStorage = { ...written, nodeVolumeAttachLimit };
  return isEmpty({ ...metadata, ...blockStorage })
    ? undefined
    : render(aboutNodes({ metadata, blockStorage }));
}

const membersOf = ({ subnetId, machines }: CloudConf): string => machines?.subnetId ?? subnetId;

/**
 * Returns whether the settings name an external network from which Services can get floating IPs.
 */
const hasFloatingIps = (
  { floatingNetworkId }: CloudConf,
  { loadBalancer: all, loadBalancerClasses: classes = {} }: CloudConfSettings,
): boolean =>
  [
    floatingNetworkId,
    all?.floatingNetworkId,
    ...Object.values(classes).map((one) => one.floatingNetworkId),
  ].some((id) => id !== undefined);

const loadBalancer = (conf: CloudConf, settings: CloudConfSettings): Section => ({
  "lb-provider": conf.loadBalancerProvider,
  "lb-method": getLoadBalancerMethod(conf.loadBalancerProvider),
  // A subnet takes precedence over a network, so it is left out if the user sets `network-id`.
  "subnet-id": settings.loadBalancer?.networkId === undefined ? conf.subnetId : undefined,
  "member-subnet-id": membersOf(conf),
  "network-id": conf.networkId,
  "floating-network-id": conf.floatingNetworkId,
  "internal-lb": hasFloatingIps(conf, settings) ? undefined : true,
  // With `externalTrafficPolicy: Local`, only nodes with a pod answer. Without a health monitor,
  // the load balancer would also send clients to the other nodes.
  "create-monitor": true,
  "monitor-delay": "5s",
  "monitor-timeout": "3s",
  "monitor-max-retries": 1,
});

const aboutNodes = ({ metadata, blockStorage }: CloudConfSettings): Record<string, Section> => ({
  // The config drive comes first, because another machine on the network could pretend to be the
  // metadata service.
  Metadata: { "search-order": "configDrive,metadataService", ...withConfKeys(metadata) },
  BlockStorage: withConfKeys(blockStorage),
});

const render = (sections: Readonly<Record<string, Section>>): string =>
  Object.entries(sections)
    .filter(([, section]) => !isEmpty(section))
    .map(renderSection)
    .join("\n");

/**
 * Returns the algorithm by which Octavia distributes connections. The OVN provider supports only
 * SOURCE_IP_PORT.
 */
export function getLoadBalancerMethod(provider: string): string {
  return provider === "ovn" ? "SOURCE_IP_PORT" : "ROUND_ROBIN";
}

/**
 * Returns the value in quotes, with backslashes, quotes, line feeds and tabs escaped. Throws an
 * error for characters that cloud.conf cannot contain. The parser drops carriage returns and
 * refuses NUL. Source: gopkg.in/gcfg.v1, scanner.go and `unescape` in read.go.
 */
export function quoteValue(key: string, value: Value): string {
  const text = String(value);
  const refused = ["\0", "\r"].some((character) => text.includes(character));
  if (refused || Buffer.from(text, "utf8").toString("utf8") !== text) {
    throw new RangeError(`cloud.conf: ${key} holds a character that cannot be written there`);
  }
  const escaped = text
    .replaceAll("\\", "\\\\")
    .replaceAll('"', '\\"')
    .replaceAll("\n", "\\n")
    .replaceAll("\t", "\\t");
  return `"${escaped}"`;
}

const isList = (value: Value | readonly string[]): value is readonly string[] =>
  Array.isArray(value);

function renderSection([name, section]: readonly [string, Section]): string {
  const lines = Object.entries(section).flatMap(([key, value]) =>
    (value === undefined ? [] : isList(value) ? value : [value]).map(
      (one) => `${key} = ${quoteValue(key, one)}\n`,
    ),
  );
  return `[${name}]\n${lines.join("")}`;
}
