import type { Row } from "../../../../test/support/graph/graph.js";
import type { Part, PicturedGroup } from "./network-parts.js";
import {
  getResourceId,
  readText,
  rowsOfType,
  type RegisteredCluster,
} from "./registered-cluster.js";

/** Way of clients to machines. */
export interface Path {
  readonly purpose: "api" | "ssh" | "web";
  /** Floating IP at the beginning of the path. */
  readonly floatingIp?: Part;
  /** Load balancer or virtual IP on the path. */
  readonly box?: Part;
  /** Key of the machine group at the end of the path. */
  readonly group: string;
  /** Machine of the group to which the floating IP leads. Undefined: all machines of the group. */
  readonly machine?: string;
  /** Whether the path leads through the separate network for Services. */
  readonly apart?: boolean;
}

const purposes: Readonly<Record<string, Path["purpose"]>> = {
  "Kubernetes API": "api",
  SSH: "ssh",
  Ingress: "web",
};

/** Returns the use of a floating IP: the first sentence of its description. */
const useOf = (floatingIp: Row): string =>
  (readText(floatingIp, "description") ?? "").split(".")[0] ?? "";

const floatingIpPart = (row: Row): Part => ({
  lines: ["Floating IP", useOf(row)],
  shows: [row.name],
});

/** Returns the ports of a load balancer: `443 → 30043`. */
function portsOfBalancer(balancer: Row, rows: readonly Row[]): string[] {
  const of = (type: string): readonly Row[] => rowsOfType(rows, `loadbalancer/${type}`);
  return of("listener:Listener")
    .filter((row) => readText(row, "loadbalancerId") === getResourceId(balancer.name))
    .map((listener) => {
      const pools = of("pool:Pool")
        .filter((row) => readText(row, "listenerId") === getResourceId(listener.name))
        .map(({ name }) => getResourceId(name));
      const member = of("member:Member").find((row) =>
        pools.includes(readText(row, "poolId") ?? ""),
      );
      const [from, to] = [listener, member].map((row) => String(row?.inputs["protocolPort"]));
      return `${String(from)} → ${String(to)}`;
    });
}

/** Returns the key of the machine group in which a machine has this name. */
const groupWith = (name: string, groups: readonly PicturedGroup[]): string | undefined =>
  groups.find(({ machines }) => machines.some((one) => name.endsWith(`-${one.name}`)))?.key;

/** Returns the path through a load balancer that the program creates. */
function balancerPath(
  balancer: Row,
  { rows }: RegisteredCluster,
  groups: readonly PicturedGroup[],
): Path {
  const own = rows.filter(({ parent }) => parent === balancer.parent);
  const members = rowsOfType(own, "loadbalancer/member:Member");
  const [floatingIp] = rowsOfType(own, "networking/floatingIp:FloatingIp");
  const isApi = (readText(balancer, "description") ?? "").startsWith("Kubernetes API");
  const group = groupWith(readText(members[0] ?? balancer, "name") ?? "", groups);
  if (group === undefined) throw new Error(`${balancer.name} has no members`);
  return {
    purpose: isApi ? "api" : "web",
    ...(floatingIp && { floatingIp: floatingIpPart(floatingIp) }),
    box: {
      lines: [
        "Load balancer",
        isApi ? "Kubernetes API" : "Ingress",
        ...portsOfBalancer(balancer, rows),
      ],
      shows: own
        .filter(({ custom, name }) => custom && name !== floatingIp?.name)
        .map(({ name }) => name),
    },
    group,
  };
}

/** Returns the path of a floating IP that leads to a port. */
function floatingIpPath(
  floatingIp: Row,
  { rows }: RegisteredCluster,
  groups: readonly PicturedGroup[],
): Path {
  const purpose = purposes[useOf(floatingIp)];
  const port = rows.find(({ name }) => getResourceId(name) === readText(floatingIp, "portId"));
  if (!purpose || !port) throw new Error(`${floatingIp.name} leads to no port of the program`);
  const part = { purpose, floatingIp: floatingIpPart(floatingIp) };
  for (const group of groups) {
    const machine = group.machines.find(({ shows }) => shows.includes(port.name));
    if (machine) return { ...part, group: group.key, machine: machine.name };
  }
  return { ...part, ...virtualIp(port, groups) };
}

/** Returns the part of the port whose address keepalived moves between the control planes. */
const virtualIp = (
  port: Row,
  groups: readonly PicturedGroup[],
): Required<Pick<Path, "box" | "group">> => ({
  box: { lines: ["Virtual IP", "keepalived"], shows: [port.name] },
  group: groupWith("-control-plane-0", groups) ?? "",
});

interface ServiceSpec {
  readonly type?: string;
  readonly ports?: readonly { readonly port?: number }[];
}

interface ServiceMetadata {
  readonly name?: string;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Returns the paths through the load balancers that the cloud controller creates for Services. */
function servicePaths({ rows, spec }: RegisteredCluster, groups: readonly PicturedGroup[]): Path[] {
  const group = groups.find(({ key }) => key.startsWith("workers-")) ?? groups.at(-1);
  return rows
    .filter(({ type }) => type === "kubernetes:core/v1:Service")
    .flatMap((row) => {
      const { type, ports = [] } = row.inputs["spec"] as ServiceSpec;
      if (type !== "LoadBalancer" || !group) return [];
      const { name = "", annotations = {} } = row.inputs["metadata"] as ServiceMetadata;
      const internal = Object.keys(annotations).some((key) => key.includes("internal"));
      const foreign = true;
      return [
        {
          purpose: "web" as const,
          ...(!internal && {
            floatingIp: { lines: ["Floating IP", "Service"], shows: [], foreign },
          }),
          box: {
            lines: ["Load balancer", name, ...ports.map(({ port }) => `port ${String(port)}`)],
            shows: [row.name],
            foreign,
          },
          group: group.key,
          apart: !internal && spec.loadBalancer.network !== undefined,
        },
      ];
    });
}

/** Returns the path through a load balancer that the user has. */
function existingPath({ spec }: RegisteredCluster, groups: readonly PicturedGroup[]): Path[] {
  if (spec.endpoint.kind !== "existing") return [];
  const group = groupWith("-control-plane-0", groups) ?? "";
  const lines = ["Load balancer", "of the user", spec.endpoint.host];
  return [{ purpose: "api", box: { lines, shows: [], foreign: true }, group }];
}

/** Returns the ways of clients to the machines, in the order of the machine groups. */
export function findPaths(
  cluster: RegisteredCluster,
  groups: readonly PicturedGroup[],
): readonly Path[] {
  const { rows } = cluster;
  const balancers = rowsOfType(rows, "loadbalancer/loadBalancer:LoadBalancer");
  const balanced = balancers.map((row) => balancerPath(row, cluster, groups));
  const drawn = balanced.flatMap(({ floatingIp }) => floatingIp?.shows ?? []);
  const order = groups.map(({ key }) => key);
  return [
    ...rowsOfType(rows, "networking/floatingIp:FloatingIp")
      .filter(({ name }) => !drawn.includes(name))
      .map((row) => floatingIpPath(row, cluster, groups)),
    ...balanced,
    ...existingPath(cluster, groups),
    ...servicePaths(cluster, groups),
  ].sort((one, other) => order.indexOf(one.group) - order.indexOf(other.group));
}
