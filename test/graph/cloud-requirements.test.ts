import { strict as assert } from "node:assert";
import { getClusterRequirements } from "../../components/cloud-requirements.js";
import {
  parseClusterSpec,
  type ClusterArgs,
  type ClusterSpec,
} from "../../components/config/cluster-spec.js";
import { clusterRows } from "../support/graph/cluster-rows.js";
import { exampleArgs, exampleNames, programNames } from "../support/config/examples.js";
import type { Row } from "../support/graph/graph.js";
import { programGraph } from "../support/graph/program-graph.js";
import { smallest } from "../support/config/spec.js";

/**
 * Counts the registered resources by quota, including those that Neutron and the cloud controller
 * add.
 */
function counted(rows: readonly Row[], spec: ClusterSpec) {
  const externalNetwork = spec.loadBalancer.network?.externalNetwork ?? spec.externalNetwork;
  const count = (type: string): number => rows.filter((row) => row.type === type).length;
  const balanced = rows.filter(
    ({ type, inputs }) =>
      type === "kubernetes:core/v1:Service" &&
      (inputs["spec"] as { type?: string }).type === "LoadBalancer",
  );
  const internal = balanced.filter(({ inputs }) =>
    JSON.stringify(inputs["metadata"]).includes("openstack-internal-load-balancer"),
  );
  const dhcp = count("openstack:networking/subnet:Subnet");
  const claims = count("kubernetes:core/v1:PersistentVolumeClaim");
  // Octavia creates the port of a load balancer without a given port.
  const balancers = rows.filter(
    ({ type }) => type === "openstack:loadbalancer/loadBalancer:LoadBalancer",
  );
  const own = balancers.filter(({ inputs }) => inputs["vipSubnetId"] !== undefined).length;
  // Neutron adds two rules that allow all egress to each new group.
  const leaving = rows.filter(
    ({ type, inputs }) =>
      type === "openstack:networking/secGroup:SecGroup" && inputs["deleteDefaultRules"] !== true,
  ).length;
  const volumes = rows.filter(({ type }) => type === "openstack:blockstorage/volume:Volume");
  // The cloud controller creates a listener, a pool and a monitor for each port of a Service, and a
  // member for each worker. kubeadm's label excludes control planes.
  const ports = balanced.reduce(
    (sum, { inputs }) => sum + (inputs["spec"] as { ports: readonly unknown[] }).ports.length,
    0,
  );
  const workers = Object.values(spec.workers).reduce((sum, { count: of }) => sum + of, 0);
  return {
    networks: count("openstack:networking/network:Network"),
    subnets: count("openstack:networking/subnet:Subnet"),
    routers: count("openstack:networking/router:Router"),
    ports:
      count("openstack:networking/port:Port") +
      count("openstack:networking/routerInterface:RouterInterface") +
      dhcp +
      own +
      balanced.length,
    "floating IPs":
      count("openstack:networking/floatingIp:FloatingIp") +
      (externalNetwork === undefined ? 0 : balanced.length - internal.length),
    "security groups": count("openstack:networking/secGroup:SecGroup") + balanced.length,
    "security group rules":
      count("openstack:networking/secGroupRule:SecGroupRule") + 2 * (leaving + balanced.length),
    volumes: claims + volumes.length,
    "volume gigabytes": volumes.reduce((sum, { inputs }) => sum + Number(inputs["size"]), claims),
    "load balancers": balancers.length + balanced.length,
    listeners: count("openstack:loadbalancer/listener:Listener") + ports,
    pools: count("openstack:loadbalancer/pool:Pool") + ports,
    members:
      count("openstack:loadbalancer/member:Member") +
      ports * (workers > 0 ? workers : spec.controlPlane.count),
    "health monitors": count("openstack:loadbalancer/monitor:Monitor") + ports,
    "server groups": count("openstack:compute/serverGroup:ServerGroup"),
  };
}

const existing = { existing: { network: "office" } };

describe("getClusterRequirements", () => {
  it("lists requirements that only the owner of an existing network can meet", () => {
    const owners = (over: Partial<ClusterArgs>): readonly string[] => {
      const parsed = parseClusterSpec({ ...smallest, network: existing, ...over });
      assert.ok("spec" in parsed, JSON.stringify(parsed));
      return getClusterRequirements(parsed.spec).ownersOnly;
    };
    const flannel = { podNetwork: "flannel" } as const;
    const unfiltered = { network: { ...existing, portSecurity: false } };
    assert.deepEqual(owners({}), ["podNetwork kube-router"]);
    assert.deepEqual(owners(flannel), []);
    assert.deepEqual(owners({ network: {} }), [], "one that is made is one's own");
    assert.deepEqual(owners({ podNetwork: { kind: "flannel", backend: "host-gw" } }), [
      "podNetwork flannel, host-gw",
    ]);
    assert.deepEqual(owners(unfiltered), ["network.portSecurity false"]);
    const virtual = { ...flannel, endpoint: { kind: "virtual-ip" } } as const;
    assert.deepEqual(owners(virtual), ["endpoint virtual-ip"]);
    const fixed = { flavor: "medium", nodes: { 0: { address: "10.0.0.9" } } };
    assert.deepEqual(owners({ ...flannel, controlPlane: fixed }), ["addresses of machines"]);
  });

  const sizes: Readonly<Record<string, Partial<ClusterArgs>>> = {
    "the smallest cluster": {},
    "a single machine": { topology: "single", workers: {} },
    "three control planes behind a load balancer": { topology: "ha" },
    "three control planes and separate etcd machines": {
      topology: "ha",
      etcd: { kind: "dedicated", flavor: "large", count: 5 },
    },
    "separate etcd machines with volumes behind a bastion with a volume": {
      etcd: {
        kind: "dedicated",
        flavor: "large",
        rootVolume: { size: 20 },
        etcdVolume: { size: 5 },
        spread: "none",
        nodes: { 1: { etcdVolume: { size: 9 } } },
      },
      access: "bastion",
      bastion: { flavor: "tiny", rootVolume: { size: 8 } },
    },
    "three control planes with a virtual IP": { topology: "ha", endpoint: { kind: "virtual-ip" } },
    "machines with volumes": {
      controlPlane: { flavor: "medium", rootVolume: { size: 20 }, etcdVolume: { size: 5 } },
      workers: { general: { flavor: "medium", count: 2, runtimeVolume: { size: 25 } } },
    },
    "pools without server groups": {
      controlPlane: { flavor: "medium", spread: "none" },
      workers: { general: { flavor: "medium", count: 1, spread: "none" } },
    },
    "one control plane behind a bastion": { access: "bastion", bastion: { flavor: "tiny" } },
    "three control planes behind a bastion": {
      topology: "ha",
      access: "bastion",
      bastion: { flavor: "tiny", zone: "a" },
    },
    "ports without port security": { network: { portSecurity: false }, samples: true },
    "an existing network": { network: existing, samples: true },
    "an existing floating IP": {
      endpoint: { kind: "floating-ip", floatingIp: "203.0.113.9" },
    },
    "only existing floating IPs": {
      access: "bastion",
      bastion: { flavor: "tiny" },
      endpoint: { kind: "load-balancer", floatingIp: "203.0.113.9" },
      ssh: { ...smallest.ssh, floatingIp: "203.0.113.10" },
      ingress: { kind: "workers", pool: "general", replicas: 1, floatingIp: "203.0.113.11" },
    },
    "machines with a second interface": {
      network: { nodes: "10.1.0.0/24", admin: { network: "ops", allowedCidrs: ["10.9.0.0/24"] } },
    },
    "an existing network without an external network": {
      network: existing,
      samples: true,
      externalNetwork: undefined,
      endpoint: { kind: "private" },
    },
    "a separate network for services": {
      loadBalancer: { network: { externalNetwork: "services" } },
      samples: true,
    },
    "floating IPs for services only": {
      network: existing,
      externalNetwork: undefined,
      endpoint: { kind: "private" },
      loadBalancer: { network: { externalNetwork: "services" } },
      ingress: { kind: "service" },
      samples: true,
    },
    "an ingress controller behind a Service": {
      ingress: { kind: "service" },
      samples: true,
    },
    "an internal ingress controller": {
      ingress: { kind: "service", public: false },
    },
    "an ingress controller on a pool": {
      ingress: { kind: "workers", pool: "general" },
      samples: true,
    },
    "an internal ingress controller on a pool": {
      ingress: { kind: "workers", pool: "general", public: false },
    },
    "an internal sample Service only": {
      samples: true,
      sampleServices: { external: false },
    },
    "samples and two pools": {
      samples: true,
      workers: {
        general: { flavor: "medium", count: 2 },
        batch: { flavor: "large", count: 3 },
      },
    },
    ...Object.fromEntries(exampleNames().map((name) => [`the example ${name}`, exampleArgs(name)])),
  };
  const matches = (rows: readonly Row[], spec: ClusterSpec): void => {
    const needs = getClusterRequirements(spec);
    assert.deepEqual(needs.counts, counted(rows, spec));
    const servers = rows.filter(({ type }) => type === "openstack:compute/instance:Instance");
    assert.equal(needs.machines.length, servers.length);
    const named = (type: string): unknown[] =>
      rows.filter((row) => row.type === type).map(({ inputs }) => inputs["name"]);
    assert.deepEqual(
      needs.names.map((one) => one.name).sort(),
      [
        ...named("openstack:compute/instance:Instance"),
        ...named("openstack:networking/network:Network"),
        ...named("openstack:networking/router:Router"),
      ].sort(),
    );
  };
  for (const [name, over] of Object.entries(sizes))
    it(`counts the resources that the program registers: ${name}`, async () => {
      const args = { ...smallest, ...over };
      const rows = await clusterRows(args);
      const parsed = parseClusterSpec(args);
      assert.ok("spec" in parsed);
      matches(rows, parsed.spec);
    });

  for (const name of programNames())
    it(`counts the resources that a custom program registers: the example ${name}`, async () => {
      const { rows, spec } = await programGraph(name);
      matches(rows, spec);
    });
});
