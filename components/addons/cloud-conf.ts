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

/** What a cluster is told of its cloud besides what the program knows; section by section. */
export interface CloudSettings {
  readonly loadBalancer?: Written<typeof loadBalancerKeys> & { readonly enabled?: boolean };
  readonly loadBalancerClasses?: z.output<typeof loadBalancerClasses>;
  readonly global?: Written<typeof otherSections.global>;
  readonly networking?: Written<typeof otherSections.networking>;
  readonly metadata?: Written<typeof otherSections.metadata>;
  readonly blockStorage?: Written<typeof otherSections.blockStorage>;
  readonly keyManager?: Written<typeof otherSections.keyManager>;
}

/** What a specification says of its cloud. */
export function cloudSettings(
  spec: Pick<ClusterSpec, "loadBalancer" | "cloudController" | "blockStorage">,
): CloudSettings {
  const { classes, ...written } = spec.loadBalancer;
  // Of the network that is made the IDs are told (CloudConf).
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

/** What the cloud controller and the storage plugin must know about the cloud. */
export interface CloudConf {
  /** Identity endpoint (Keystone v3). */
  readonly authUrl: string;
  readonly region: string;
  /** With what the controllers sign in. Never what the operator does it with. */
  readonly login: CloudLogin;
  /** Subnet that load balancers take their addresses from. */
  readonly subnetId: string;
  /** Network of that subnet. */
  readonly networkId: string;
  /** External network that services get their floating IPs from. @default services have none: the network is the outside */
  readonly floatingNetworkId?: string;
  /** Where the machines are, that load balancers lead to, and whose network the class `machines` stands for. @default there, too */
  readonly machines?: Pick<CloudConf, "subnetId" | "networkId" | "floatingNetworkId">;
  /** Router that the cloud controller keeps a route to each node's pods on. @default none: the pod network needs no routes */
  readonly routerId?: string | undefined;
  /** Octavia provider, `amphora`, `ovn` or the name that the cloud's operator gave. */
  readonly loadBalancerProvider: string;
  /** File inside the containers with the certificate of the cloud's own authority. @default none */
  readonly caFile?: string;
  /** Files there with the client certificate that the cloud asks for, and its key: both or none. @default none */
  readonly certFile?: string;
  readonly keyFile?: string;
  /** What is told besides, and wins over the program's own values. @default nothing */
  readonly settings?: CloudSettings;
}

type Value = string | number | boolean;
type Section = Readonly<Record<string, Value | readonly string[] | undefined>>;

/** A section as it was written, under the keys of the file. */
const told = (section: Section = {}): Section =>
  Object.fromEntries(
    Object.entries(section)
      // A key without a value says nothing: it takes no default away.
      .filter(([, value]) => value !== undefined)
      .map(([key, value]) => [confKey(key), value]),
  );

/** Ranges are one value with commas; names of networks are one line each. */
const networking = ({ addressSortOrder, ...rest }: CloudSettings["networking"] = {}): Section => ({
  ...told(rest),
  "address-sort-order": addressSortOrder?.join(","),
});

const isEmpty = (section: Section): boolean =>
  Object.values(section).every((value) => value === undefined);

/**
 * The text of cloud.conf.
 *
 * Every key appears once (a repeated key of a list type would append, of another type silently win)
 * and every value is quoted, so that `;`, `#` and blanks in a secret cannot end it.
 * Key names: the `gcfg` tags in pkg/client/client.go and pkg/openstack/openstack.go of
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
      ...told({ ...conf.login }),
      "ca-file": conf.caFile,
      "cert-file": conf.certFile,
      "key-file": conf.keyFile,
      ...told(settings.global),
    },
    LoadBalancer: { ...loadBalancer(conf, settings), ...told(settings.loadBalancer) },
    ...Object.fromEntries(
      classes.map(([name, place]) => [
        `LoadBalancerClass "${name}"`,
        { "member-subnet-id": membersOf(conf), ...told(place) },
      ]),
    ),
    Route: { "router-id": conf.routerId },
    Networking: networking(settings.networking),
    ...aboutNodes(settings),
    KeyManager: told(settings.keyManager),
  });
}

/**
 * What the storage plugin reads on every node: nothing about the cloud's API. Absent where its own defaults are meant.
 *
 * @param attachable volumes that a node takes where the settings do not say it. Only the nodes' half reads it: said to the others,
 *   they would restart for nothing. Default: the plugin's own, which is none
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

/** Whether some service can have an address outside. */
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
  // It would win over another network.
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
  // The instance ID must not be looked up at a neighbour's metadata service when the drive is there.
  Metadata: { "search-order": "configDrive,metadataService", ...told(metadata) },
  BlockStorage: told(blockStorage),
});

const render = (sections: Readonly<Record<string, Section>>): string =>
  Object.entries(sections)
    .filter(([, section]) => !isEmpty(section))
    .map(renderSection)
    .join("\n");

/** OVN only spreads by source address and port; every other provider takes turns. */
export function loadBalancerMethod(provider: string): string {
  return provider === "ovn" ? "SOURCE_IP_PORT" : "ROUND_ROBIN";
}

/**
 * A value in quotes. Rules of gopkg.in/gcfg.v1 (scanner.go, `unescape` in read.go): inside quotes a
 * backslash escapes only itself, a quote, `n` and `t`; a carriage return is dropped, NUL refused.
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
