import { Address4 } from "ip-address";
import { cloudDevices, type HostLabNetwork, type LabSettings } from "../settings.js";

/** Command and its arguments. */
export type CommandWithArguments = readonly [string, ...string[]];

/**
 * Returns commands that create namespace, veth pairs and addresses. The namespace is always new,
 * because Neutron's agent fails with the ebtables chains of an old namespace.
 */
export function listLinkCommands(settings: LabSettings): CommandWithArguments[] {
  const { name, devices, management, external, services, mtu } = settings;
  const inside = (...words: string[]): CommandWithArguments => ["ip", "-n", name, ...words];
  const pair = (host: string, cloud: string): CommandWithArguments => [
    ...(["ip", "link", "add", host, "mtu", String(mtu), "type", "veth"] as const),
    ...["peer", "name", cloud, "mtu", String(mtu), "netns", name],
  ];
  const hostEnd = (device: string, network: HostLabNetwork): CommandWithArguments[] => [
    ["ip", "addr", "add", `${network.host}/${network.prefixLength}`, "dev", device],
    ["ip", "link", "set", device, "up"],
  ];
  return [
    ["ip", "netns", "add", name],
    inside("link", "set", "lo", "up"),
    pair(devices.management, cloudDevices.management),
    pair(devices.external, cloudDevices.external),
    pair(devices.services, cloudDevices.services),
    ...hostEnd(devices.management, management),
    ...hostEnd(devices.external, external),
    ...hostEnd(devices.services, services),
    ...[management.cloud, management.front].map((address) =>
      inside(
        ...["addr", "add", `${address}/${management.prefixLength}`],
        ...["dev", cloudDevices.management],
      ),
    ),
    inside("link", "set", cloudDevices.management, "up"),
    inside("link", "set", cloudDevices.external, "up"),
    inside("link", "set", cloudDevices.services, "up"),
    inside("route", "add", "default", "via", management.host),
  ];
}

/**
 * Private ranges (RFC 1918, RFC 6598). Servers of a real cloud reach such an address only if a
 * route of the cloud leads to it.
 */
const privateRanges = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10"];

/**
 * Returns `iptables` commands that let the cloud and its servers reach other networks, even if the
 * host forwards nothing by default. Packets of servers to private addresses outside of the lab are
 * rejected. Otherwise, a packet to a pod for which a machine has no route would leave the host, and
 * another computer could answer it.
 */
export function listFirewallCommands(settings: LabSettings): CommandWithArguments[] {
  const { name, devices, management, external, services } = settings;
  const ours = ["-m", "comment", "--comment", name];
  const masquerade = ({ cidr }: HostLabNetwork): CommandWithArguments => [
    ...(["iptables", "-w", "-t", "nat", "-A", "POSTROUTING"] as const),
    ...["-s", cidr, "!", "-d", cidr, ...ours, "-j", "MASQUERADE"],
  ];
  const forward = (direction: "-i" | "-o", device: string): CommandWithArguments => [
    ...(["iptables", "-w", "-I", "FORWARD", direction, device] as const),
    ...[...ours, "-j", "ACCEPT"],
  ];
  const rejected = (from: string, range: string): CommandWithArguments => [
    ...(["iptables", "-w", "-I", "FORWARD", "-i", from, "-d", range] as const),
    ...[...ours, "-j", "REJECT", "--reject-with", "icmp-net-unreachable"],
  ];
  const passed = (from: string, ...match: string[]): CommandWithArguments => [
    ...(["iptables", "-w", "-I", "FORWARD", "-i", from] as const),
    ...[...match, ...ours, "-j", "ACCEPT"],
  ];
  return [
    masquerade(management),
    masquerade(external),
    masquerade(services),
    ...Object.values(devices).flatMap((device) => [forward("-i", device), forward("-o", device)]),
    // Each command inserts its rule before the others, so the last rule is checked first.
    ...privateRanges.map((range) => rejected(devices.external, range)),
    // The name server of the host, which may have a private address, answers for servers.
    ...["udp", "tcp"].map((protocol) => passed(devices.external, "-p", protocol, "--dport", "53")),
    ...Object.values(devices).map((device) => passed(devices.external, "-o", device)),
    // Answers to clients outside of the lab, for example in a container of the host.
    passed(devices.external, "-m", "conntrack", "--ctstate", "ESTABLISHED,RELATED"),
  ];
}

/**
 * Returns the commands that delete the rules with this comment, from the output of `iptables -t
 * <table> -S`.
 */
export function listRuleDeletions(
  table: string,
  listing: string,
  comment: string,
): CommandWithArguments[] {
  return listing
    .split("\n")
    .map((line) => line.trim().split(/\s+/).map(unquote))
    .filter((words) => words[0] === "-A" && words[words.indexOf("--comment") + 1] === comment)
    .map((words): CommandWithArguments => ["iptables", "-w", "-t", table, "-D", ...words.slice(1)]);
}

const unquote = (word: string): string => word.replace(/^"(.*)"$/, "$1");

/** Addresses that the host already uses: a route, an interface, a name server, a mirror. */
export interface UsedAddresses {
  readonly cidr: string;
  /** Description for the error message: "route through eth1". */
  readonly what: string;
}

interface IpRoute {
  readonly dst?: string;
  readonly dev?: string;
}
interface IpAddress {
  readonly ifname?: string;
  readonly addr_info?: readonly { readonly local?: string; readonly prefixlen?: number }[];
}

/** Names of the lab's own interfaces, which do not count as collisions. */
type Devices = LabSettings["devices"];
const isOurs = (devices: Devices, device: string | undefined): boolean =>
  Object.values(devices).includes(device ?? "");

/**
 * Returns the routes in the output of `ip -j -4 route show table all`, without the default route
 * and the lab's own routes.
 */
export function parseRouteAddresses(json: string, devices: Devices): UsedAddresses[] {
  return (JSON.parse(json || "[]") as IpRoute[])
    .filter(({ dst, dev }) => dst !== undefined && Address4.isValid(dst) && !isOurs(devices, dev))
    .map(({ dst = "", dev }) => ({ cidr: dst, what: `route through ${dev ?? "no interface"}` }));
}

/** Returns the addresses in the output of `ip -j -4 addr`, without the lab's own interfaces. */
export function parseInterfaceAddresses(json: string, devices: Devices): UsedAddresses[] {
  return (JSON.parse(json || "[]") as IpAddress[])
    .filter(({ ifname }) => !isOurs(devices, ifname))
    .flatMap(({ ifname, addr_info }) =>
      (addr_info ?? [])
        .filter(({ local }) => local !== undefined)
        .map(({ local = "", prefixlen = 32 }) => ({
          cidr: `${local}/${prefixlen}`,
          what: `interface ${ifname ?? "?"}`,
        })),
    );
}

/** Returns the IPv4 name servers in /etc/resolv.conf. */
export function parseNameServerAddresses(resolvConf: string): UsedAddresses[] {
  return [...resolvConf.matchAll(/^nameserver\s+(\S+)/gm)]
    .map(([, address = ""]) => address)
    .filter((address) => Address4.isValid(address))
    .map((address) => ({ cidr: `${address}/32`, what: "name server in /etc/resolv.conf" }));
}

/** Reports whether two IPv4 ranges share an address. */
export function isOverlapping(one: string, other: string): boolean {
  const a = new Address4(one);
  const b = new Address4(other);
  return (
    a.startAddress().bigInt() <= b.endAddress().bigInt() &&
    b.startAddress().bigInt() <= a.endAddress().bigInt()
  );
}

/** Returns a sentence for each used range that overlaps with one of the lab's networks. */
export function findCollisions(settings: LabSettings, used: readonly UsedAddresses[]): string[] {
  const networks = [
    { setting: "STACKADM_LAB_MANAGEMENT", cidr: settings.management.cidr },
    { setting: "STACKADM_LAB_EXTERNAL", cidr: settings.external.cidr },
    { setting: "STACKADM_LAB_SERVICES", cidr: settings.services.cidr },
  ];
  return networks.flatMap(({ setting, cidr }) =>
    used
      .filter((use) => isOverlapping(use.cidr, cidr))
      .map((use) => `${cidr} (${setting}) collides with ${use.cidr}, ${use.what}`),
  );
}
