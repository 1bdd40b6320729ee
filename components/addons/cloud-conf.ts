/** cloud.conf, the configuration that the cloud controller and the storage plugin read (pure). */

import type { z } from "zod";
import type { CloudLogin } from "../identity/cloud-login.js";
import type { ClusterSpec } from "../spec/cluster-spec.js";
import {
  confKey,
  machinesClass,
  type loadBalancerClasses,
  type loadBalancerKeys,
  type otherSections,
} from "../spec/cloud-conf.js";

type Written<Shape extends z.core.$ZodLooseShape> = {
  readonly [Key in keyof Shape]?: z.output<Shape[Key]>;
};

/** Settings for cloud.conf by section, in addition to what the program knows. */
export interface CloudSettings {
  readonly loadBalancer?: Written<typeof loadBalancerKeys> & { readonly enabled?: boolean };
  readonly loadBalancerClasses?: z.output<typeof loadBalancerClasses>;
  readonly global?: Written<typeof otherSections.global>;
  readonly networking?: Written<typeof otherSections.networking>;
  readonly metadata?: Written<typeof otherSections.metadata>;
  readonly blockStorage?: Written<typeof otherSections.blockStorage>;
  readonly keyManager?: Written<typeof otherSections.keyManager>;
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
    ...{ nodeVolumeAttachLimit, rescanOnResize, ignoreVolumeAz, ignoreVolumeMicroversion },
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
  /** Login of the controllers; never the operator's. */
  readonly login: CloudLogin;
  /** Subnet of the load balancers' addresses. */
  readonly subnetId: string;
  /** Network of that subnet. */
  readonly networkId: string;
  /**
   * External network of the Services' floating IPs.
   * @default none: clients reach the network itself
   */
  readonly floatingNetworkId?: string;
  /**
   * Network of the machines, which the class `machines` of load balancers selects.
   * @default that of the load balancers
   */
  readonly machines?: Pick<CloudConf, "subnetId" | "networkId" | "floatingNetworkId">;
  /** Router on which the cloud controller keeps a route to each node's pods. @default no routes */
  readonly routerId?: string | undefined;
  /** Octavia provider: `amphora`, `ovn` or a name of the cloud's operator. */
  readonly loadBalancerProvider: string;
  /** Path in the containers of the cloud's CA certificate. @default none */
  readonly caFile?: string;
  /** Path in the containers of the TLS client certificate; set with `keyFile`. @default none */
  readonly certFile?: string;
  /** Path in the containers of its private key. @default none */
  readonly keyFile?: string;
  /** Further settings, which win over the program's values. @default none */
  readonly settings?: CloudSettings;
}

type Value = string | number | boolean;
type Section = Readonly<Record<string, Value | readonly string[] | undefined>>;

/** Returns a section with the keys of cloud.conf. */
const withConfKeys = (section: Section = {}): Section =>
  Object.fromEntries(
    Object.entries(section)
      // A key without a value is left out, or it would remove the program's value.
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [confKey(key), value]),
  );

/** Returns the section Networking: ranges are one value with commas, names have one line each. */
const networking = ({ addressSortOrder, ...rest }: CloudSettings["networking"] = {}): Section => ({
  ...withConfKeys(rest),
  "address-sort-order": addressSortOrder?.join(","),
});

const isEmpty = (section: Section): boolean =>
  Object.values(section).every((value) => value === undefined);

/**
 * Returns the text of cloud.conf. Every key appears once, because a repeated one extends a list and
 * silently replaces any other value. Every value is quoted, so that `;`, `#` and blanks in a secret
 * do not end it.
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
 * Returns the file that the storage plugin reads on every node, without a login to the cloud;
 * undefined if the plugin's defaults suffice.
 *
 * @param attachable maximum number of volumes per node, unless the settings have one. It is only in
 *   this file: the controllers would restart for it without a use. Default: the plugin's
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

/** Reports whether any Service can have a floating IP. */
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
  // A subnet would win over a `network-id` in the settings.
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
  // Config drive first: another machine could answer in place of the metadata service.
  Metadata: { "search-order": "configDrive,metadataService", ...withConfKeys(metadata) },
  BlockStorage: withConfKeys(blockStorage),
});

const render = (sections: Readonly<Record<string, Section>>): string =>
  Object.entries(sections)
    .filter(([, section]) => !isEmpty(section))
    .map(renderSection)
    .join("\n");

/** Returns how load balancers spread connections: OVN only by source, other providers in turn. */
export function loadBalancerMethod(provider: string): string {
  return provider === "ovn" ? "SOURCE_IP_PORT" : "ROUND_ROBIN";
}

/**
 * Returns a value in quotes, and refuses characters that cannot be written. Inside quotes a
 * backslash escapes only itself, a quote, `n` and `t`; a carriage return is dropped, NUL refused.
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
