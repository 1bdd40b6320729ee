/** cloud.conf, the configuration that the cloud controller and the storage plugin read (pure). */

import type { z } from "zod";
import type { CloudLogin } from "../identity/cloud-login.js";
import type { ClusterSpec } from "../config/cluster-spec.js";
import {
  confKey,
  machinesClass,
  type loadBalancerClasses,
  type loadBalancerKeys,
  type generalSectionKeys,
} from "../config/cloud/cloud-conf-keys.js";

type Written<Shape extends z.core.$ZodLooseShape> = {
  readonly [Key in keyof Shape]?: z.output<Shape[Key]>;
};

/** Settings of the user for cloud.conf, by section. */
export interface CloudSettings {
  readonly loadBalancer?: Written<typeof loadBalancerKeys> & { readonly enabled?: boolean };
  readonly loadBalancerClasses?: z.output<typeof loadBalancerClasses>;
  readonly global?: Written<typeof generalSectionKeys.global>;
  readonly networking?: Written<typeof generalSectionKeys.networking>;
  readonly metadata?: Written<typeof generalSectionKeys.metadata>;
  readonly blockStorage?: Written<typeof generalSectionKeys.blockStorage>;
  readonly keyManager?: Written<typeof generalSectionKeys.keyManager>;
}

/** Returns the settings for cloud.conf in a specification. */
export function cloudSettings(
  spec: Pick<ClusterSpec, "loadBalancer" | "cloudController" | "blockStorage">,
): CloudSettings {
  const { classes, ...written } = spec.loadBalancer;
  // `network` is no key of cloud.conf: the IDs of the network are in CloudConf.
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

/** Values that cloud controller and storage plugin need about the cloud. */
export interface CloudConf {
  /** URL of Keystone v3. */
  readonly authUrl: string;
  readonly region: string;
  /** Login of the cluster's controllers, which never use the operator's own login. */
  readonly login: CloudLogin;
  /** Subnet of the load balancers' addresses. */
  readonly subnetId: string;
  /** Network of the subnet. */
  readonly networkId: string;
  /**
   * External network of the Services' floating IPs.
   * @default none: clients reach load balancers at their addresses in the network
   */
  readonly floatingNetworkId?: string;
  /**
   * Network of the machines, if load balancers have a separate network. The load balancer class
   * `machines` selects it.
   * @default the network of the load balancers
   */
  readonly machines?: Pick<CloudConf, "subnetId" | "networkId" | "floatingNetworkId">;
  /** Router on which the cloud controller keeps a route to each node's pods. @default no routes */
  readonly routerId?: string | undefined;
  /** Octavia provider: `amphora`, `ovn`, or a name that the operator of the cloud chose. */
  readonly loadBalancerProvider: string;
  /** Path in the containers of the cloud's CA certificate. @default none */
  readonly caFile?: string;
  /** Path in the containers of the TLS client certificate; set with `keyFile`. @default none */
  readonly certFile?: string;
  /** Path in the containers of the client certificate's private key. @default none */
  readonly keyFile?: string;
  /** Settings of the user, which override the program's values. @default none */
  readonly settings?: CloudSettings;
}

type Value = string | number | boolean;
type Section = Readonly<Record<string, Value | readonly string[] | undefined>>;

/** Returns the section with the names of keys in cloud.conf. */
const withConfKeys = (section: Section = {}): Section =>
  Object.fromEntries(
    Object.entries(section)
      // Leaves out keys without a value, which would remove the program's value.
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [confKey(key), value]),
  );

/**
 * Returns the section [Networking]. Ranges are one value with commas; names of networks have one
 * line each.
 */
const networking = ({ addressSortOrder, ...rest }: CloudSettings["networking"] = {}): Section => ({
  ...withConfKeys(rest),
  "address-sort-order": addressSortOrder?.join(","),
});

const isEmpty = (section: Section): boolean =>
  Object.values(section).every((value) => value === undefined);

/**
 * Returns the text of cloud.conf. A key with one value appears only once, because the parser takes
 * the last of several values without an error. Quotes every value, so that `;`, `#` and blanks in a
 * secret do not end the value.
 * Source: the `gcfg` tags in pkg/client/client.go and pkg/openstack/openstack.go of
 * cloud-provider-openstack 1.36.
 */
export function renderCloudConf(conf: CloudConf): string {
  const { settings = {} } = conf;
  const classes = Object.entries({
    ...(conf.machines && { [machinesClass]: conf.machines }),
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
      classes.map(([name, place]) => [
        `LoadBalancerClass "${name}"`,
        { "member-subnet-id": membersOf(conf), ...withConfKeys(place) },
      ]),
    ),
    Route: { "router-id": conf.routerId },
    Networking: networking(settings.networking),
    ...aboutNodes(settings),
    KeyManager: withConfKeys(settings.keyManager),
  });
}

/**
 * Returns the text of cloud.conf for the driver on nodes, which has no login. Returns undefined if
 * the defaults of the driver suffice.
 *
 * @param attachable maximum number of volumes per node, if the settings have none. The controllers
 *   do not need this number, and would restart if their cloud.conf contained it. Default: the
 *   default of the driver
 */
export function renderNodeConf(
  { metadata, blockStorage: written }: CloudSettings,
  attachable?: number,
): string | undefined {
  const nodeVolumeAttachLimit = written?.nodeVolumeAttachLimit ?? attachable;
  const blockStorage = { ...written, nodeVolumeAttachLimit };
  return isEmpty({ ...metadata, ...blockStorage })
    ? undefined
    : render(aboutNodes({ metadata, blockStorage }));
}

const membersOf = ({ subnetId, machines }: CloudConf): string => machines?.subnetId ?? subnetId;

/** Returns whether any Service can have a floating IP. */
const hasFloatingIps = (
  { floatingNetworkId }: CloudConf,
  { loadBalancer: all, loadBalancerClasses: classes = {} }: CloudSettings,
): boolean =>
  [
    floatingNetworkId,
    all?.floatingNetworkId,
    ...Object.values(classes).map((one) => one.floatingNetworkId),
  ].some((id) => id !== undefined);

const loadBalancer = (conf: CloudConf, settings: CloudSettings): Section => ({
  "lb-provider": conf.loadBalancerProvider,
  "lb-method": loadBalancerMethod(conf.loadBalancerProvider),
  // Left out if the settings have a `network-id`, because a subnet takes precedence over it.
  "subnet-id": settings.loadBalancer?.networkId === undefined ? conf.subnetId : undefined,
  "member-subnet-id": membersOf(conf),
  "network-id": conf.networkId,
  "floating-network-id": conf.floatingNetworkId,
  "internal-lb": hasFloatingIps(conf, settings) ? undefined : true,
  // Without a monitor, `externalTrafficPolicy: Local` sends clients to nodes without a pod.
  "create-monitor": true,
  "monitor-delay": "5s",
  "monitor-timeout": "3s",
  "monitor-max-retries": 1,
});

const aboutNodes = ({ metadata, blockStorage }: CloudSettings): Record<string, Section> => ({
  // Config drive first, because another machine could answer in place of the metadata service.
  Metadata: { "search-order": "configDrive,metadataService", ...withConfKeys(metadata) },
  BlockStorage: withConfKeys(blockStorage),
});

const render = (sections: Readonly<Record<string, Section>>): string =>
  Object.entries(sections)
    .filter(([, section]) => !isEmpty(section))
    .map(renderSection)
    .join("\n");

/** Returns Octavia's method to distribute connections. OVN supports only the method by source. */
export function loadBalancerMethod(provider: string): string {
  return provider === "ovn" ? "SOURCE_IP_PORT" : "ROUND_ROBIN";
}

/**
 * Returns a value in quotes, and escapes backslashes, quotes, line feeds and tabs. Throws an error
 * for characters that cannot be written: the parser drops a carriage return and refuses NUL.
 * Source: gopkg.in/gcfg.v1, scanner.go and `unescape` in read.go.
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
