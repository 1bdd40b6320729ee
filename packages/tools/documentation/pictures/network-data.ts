import type { ClusterSpec } from "../../../../components/config/cluster-spec.js";
import {
  planCluster,
  type ClusterPlan,
  type PlannedGroup,
} from "../../../../components/plan/cluster-plan.js";
import type { Row } from "../../../../test/support/graph/graph.js";
import type { Part, PicturedGroup } from "./network-parts.js";
import { findPaths, type Path } from "./network-paths.js";
import { findReachablePorts, type Reach } from "./reachable-ports.js";
import { readText, rowsOfType, type RegisteredCluster } from "./registered-cluster.js";

/** Subnet with its router, and the external network to which the router leads. */
export interface Segment {
  /** Name of the external network. Undefined: no external network is known. */
  readonly external?: string;
  readonly router?: Part;
  readonly subnet: Part;
  readonly paths: readonly Path[];
}

/** Network of a cluster, in the form in which it is drawn. */
export interface NetworkData {
  readonly clients: readonly string[];
  readonly machines: Segment;
  /** Separate network for the load balancers of Services. */
  readonly services?: Segment;
  readonly groups: readonly PicturedGroup[];
  readonly reachable: readonly Reach[];
  /** Words for the CIDRs in `reachable` that are not clients. */
  readonly ranges: Readonly<Record<string, string>>;
}

const titles: Readonly<Record<string, string>> = {
  "control-plane": "Control planes",
  bastion: "Bastion",
  etcd: "etcd machines",
};

const withoutPrefix = (name: string, { name: cluster }: ClusterSpec): string =>
  name.startsWith(`${cluster}-`) ? name.slice(cluster.length + 1) : name;

/** Returns the rows of a machine's ports. */
function portsOf(server: Row, rows: readonly Row[]): readonly Row[] {
  const networks = (server.inputs["networks"] ?? []) as readonly { readonly port?: string }[];
  return rowsOfType(rows, "networking/port:Port").filter(({ name }) =>
    networks.some(({ port }) => port === `${name}-id`),
  );
}

function groupOf(planned: PlannedGroup, { rows, spec }: RegisteredCluster): PicturedGroup {
  const servers = planned.machines.map(({ name }) => {
    const server = rowsOfType(rows, "compute/instance:Instance").find(
      (row) => readText(row, "name") === name,
    );
    if (!server) throw new Error(`the program registers no server ${name}`);
    return server;
  });
  const ports = servers.map((server) => portsOf(server, rows));
  const ids = ports
    .flat()
    .flatMap(({ inputs }) => (inputs["securityGroupIds"] ?? []) as readonly string[]);
  return {
    key: planned.component,
    title: titles[planned.role] ?? `Workers: ${planned.pool}`,
    securityGroups: rowsOfType(rows, "networking/secGroup:SecGroup")
      .map(({ name }) => name)
      .filter((name) => ids.includes(`${name}-id`)),
    machines: planned.machines.map(({ name, zone = "" }, index) => ({
      name: withoutPrefix(name, spec),
      zone,
      shows: [servers[index], ...(ports[index] ?? [])].flatMap((row) => row?.name ?? []),
    })),
  };
}

/** Returns the text of a subnet's bar. */
function subnetPart(spec: ClusterSpec, resources: readonly Row[]): Part {
  const { existing, nodes, ipv6 } = spec.network;
  const ranges = [nodes, ...(ipv6 ? [ipv6.nodes] : [])].join(", ");
  return {
    lines: [
      existing
        ? `Subnet ${ranges} of the existing network ${existing.network}`
        : `Subnet ${ranges}`,
    ],
    shows: resources.map(({ name }) => name),
    foreign: existing !== undefined,
  };
}

const networkTypes = ["network:Network", "subnet:Subnet"].map((type) => `networking/${type}`);
const routerTypes = ["router:Router", "routerInterface:RouterInterface"].map(
  (type) => `networking/${type}`,
);

const isOfServices = ({ name }: Row): boolean => name.includes("-network-services-");

function routerPart(resources: readonly Row[], external: string | undefined): Part | undefined {
  if (resources.length > 0) return { lines: ["Router"], shows: resources.map(({ name }) => name) };
  return external === undefined ? undefined : { lines: ["Your router"], shows: [], foreign: true };
}

/** Returns the separate network for Services. Undefined if the program creates none. */
function servicesSegment(
  { rows, spec }: RegisteredCluster,
  paths: readonly Path[],
): Segment | undefined {
  const own = rows.filter(isOfServices);
  const subnet = rowsOfType(own, "networking/subnet:Subnet")[0];
  if (!subnet) return undefined;
  const named = (types: readonly string[]): Row[] => types.flatMap((type) => rowsOfType(own, type));
  const external = spec.loadBalancer.network?.externalNetwork ?? spec.externalNetwork;
  const range = readText(subnet, "cidr") ?? "";
  const router = routerPart(named(routerTypes), external);
  return {
    ...(external !== undefined && { external }),
    ...(router && { router }),
    subnet: { lines: [`Services ${range}`], shows: named(networkTypes).map(({ name }) => name) },
    paths,
  };
}

/** Returns the machine groups from left to right: the way into the cluster first. */
function inOrder({ separate, groups: [controlPlanes, ...workers] }: ClusterPlan): PlannedGroup[] {
  const etcd = separate.filter(({ role }) => role === "etcd");
  const others = separate.filter(({ role }) => role !== "etcd");
  return [...others, controlPlanes, ...etcd, ...workers];
}

/** Returns the network of a cluster, from the resources that the program registers. */
export function readNetwork(cluster: RegisteredCluster): NetworkData {
  const { spec, rows } = cluster;
  const plan = planCluster(spec);
  const groups = inOrder(plan).map((planned) => groupOf(planned, cluster));
  const others = rows.filter((row) => !isOfServices(row));
  const named = (types: readonly string[]): Row[] =>
    types.flatMap((type) => rowsOfType(others, type));
  const paths = findPaths(cluster, groups);
  const apart = (path: Path): boolean => path.apart === true;
  const services = servicesSegment(cluster, paths.filter(apart));
  const router = routerPart(named(routerTypes), spec.externalNetwork);
  return {
    clients: spec.allowedCidrs,
    machines: {
      ...(spec.externalNetwork !== undefined && { external: spec.externalNetwork }),
      ...(router && { router }),
      subnet: subnetPart(spec, named(networkTypes)),
      paths: paths.filter((path) => !apart(path)),
    },
    ...(services && { services }),
    groups,
    reachable: findReachablePorts(rows, groups),
    ranges: {
      [spec.network.nodes]: "Subnet",
      [spec.network.pods]: "Pods",
    },
  };
}
