import type { Row } from "../../../../test/support/graph/graph.js";
import { getResourceId, readText, rowsOfType } from "./registered-cluster.js";

/** Ports that one source may reach at one target. */
export interface Reach {
  /** Label of the source: a CIDR or the key of a machine group. */
  readonly from: string;
  /** Key of a machine group, or the name of a load balancer. */
  readonly to: string;
  readonly ports: readonly string[];
  /** Names of the resources that allow the connections. */
  readonly shows: readonly string[];
}

/** Connections that a resource allows. */
interface Allowed {
  readonly from: string;
  readonly to: string;
  readonly protocol: string;
  readonly first: number;
  readonly last: number;
  readonly resource: string;
}

/** Machine group with the names of its security groups' resources. */
export interface FilteredGroup {
  readonly key: string;
  readonly securityGroups: readonly string[];
}

const lastPort = 65535;

const readNumber = (row: Row, key: string, otherwise: number): number => {
  const value = row.inputs[key];
  return typeof value === "number" ? value : otherwise;
};

/** Returns the keys of the machine groups in the security group with this ID. */
const groupsWith = (id: string | undefined, groups: readonly FilteredGroup[]): string[] =>
  groups
    .filter(({ securityGroups }) => securityGroups.some((name) => getResourceId(name) === id))
    .map(({ key }) => key);

/** Returns the connections that a rule of a security group allows. */
function allowedByRule(row: Row, groups: readonly FilteredGroup[]): Allowed[] {
  if (readText(row, "direction") !== "ingress") return [];
  const range = readText(row, "remoteIpPrefix");
  const sources =
    range === undefined ? groupsWith(readText(row, "remoteGroupId"), groups) : [range];
  const protocol = (readText(row, "protocol") ?? "all").replace(/^ipv6-/, "");
  return sources.flatMap((from) =>
    groupsWith(readText(row, "securityGroupId"), groups).map((to) => ({
      from,
      to,
      protocol,
      first: readNumber(row, "portRangeMin", 0),
      last: readNumber(row, "portRangeMax", lastPort),
      resource: row.name,
    })),
  );
}

/** Returns the connections that a listener of a load balancer allows. */
function allowedByListener(row: Row): Allowed[] {
  const port = readNumber(row, "protocolPort", 0);
  const ranges = (row.inputs["allowedCidrs"] ?? []) as readonly string[];
  const to = (readText(row, "loadbalancerId") ?? "").replace(/-id$/, "");
  return ranges.map((from) => ({
    from,
    to,
    protocol: "tcp",
    resource: row.name,
    first: port,
    last: port,
  }));
}

/** Joins port ranges that overlap or follow each other. */
function joinRanges(all: readonly Pick<Allowed, "first" | "last">[]): [number, number][] {
  const joined: [number, number][] = [];
  for (const { first, last } of [...all].sort((one, other) => one.first - other.first)) {
    const before = joined.at(-1);
    if (before && first <= before[1] + 1) before[1] = Math.max(before[1], last);
    else joined.push([first, last]);
  }
  return joined;
}

/** Returns the ports of a protocol in words. Ports without a protocol are TCP ports. */
function renderPorts(protocol: string, allowed: readonly Allowed[]): string[] {
  const prefix = protocol === "tcp" ? "" : `${protocol} `;
  return joinRanges(allowed).map(([first, last]) => {
    if (first === 0 && last === lastPort) return protocol;
    return `${prefix}${first === last ? first : `${first}–${last}`}`;
  });
}

const protocols = ["tcp", "udp", "icmp", "all"];

/**
 * Returns which source reaches which target on which ports, from the rules of the security groups
 * and the listeners of the load balancers. IPv4 and IPv6 rules are joined.
 */
export function findReachablePorts(
  rows: readonly Row[],
  groups: readonly FilteredGroup[],
): readonly Reach[] {
  const allowed = [
    ...rowsOfType(rows, "loadbalancer/listener:Listener").flatMap(allowedByListener),
    ...rowsOfType(rows, "networking/secGroupRule:SecGroupRule").flatMap((row) =>
      allowedByRule(row, groups),
    ),
  ];
  const pairs = new Map<string, Allowed[]>();
  for (const one of allowed)
    pairs.set(`${one.from} ${one.to}`, [...(pairs.get(`${one.from} ${one.to}`) ?? []), one]);
  return [...pairs.values()].map((some) => ({
    from: some[0]?.from ?? "",
    to: some[0]?.to ?? "",
    ports: protocols.flatMap((protocol) =>
      renderPorts(
        protocol,
        some.filter((one) => one.protocol === protocol),
      ),
    ),
    shows: some.map(({ resource }) => resource),
  }));
}
