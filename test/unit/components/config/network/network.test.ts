import { strict as assert } from "node:assert";
import {
  parseClusterSpec,
  type ClusterSpec,
} from "../../../../../components/config/cluster-spec.js";
import { golden } from "../../../../support/golden.js";
import { plainMachine, smallest } from "../../../../support/config/spec.js";

const problems = (over: object): string[] => {
  const result = parseClusterSpec({ ...smallest, ...over });
  return "problems" in result
    ? result.problems.map(({ path, message }) => `${path}: ${message}`)
    : [];
};
const spec = (over: object): ClusterSpec => {
  const result = parseClusterSpec({ ...smallest, ...over });
  assert.ok("spec" in result, JSON.stringify(result));
  return result.spec;
};

const bastion = { flavor: "tiny" };

const office = { existing: { network: "office" } };
const unrouted = { externalNetwork: undefined };

/** Settings of Services with a separate external network. */
const services = { externalNetwork: "services" };
const apart = (over: object = {}, more: object = {}) => ({
  loadBalancer: { network: { ...services, ...over }, ...more },
});

const placed = (address: string) => ({ flavor: "m", nodes: { "0": { address } } });

const given = { ...smallest.ssh, floatingIp: "203.0.113.9" };
const edge = { kind: "workers", pool: "general", floatingIp: "203.0.113.9" };
const balancedAt = (floatingIp: string) => ({ endpoint: { kind: "load-balancer", floatingIp } });

/** Wrong values with the path that the error must name, one per row. */
const mistakes: readonly (readonly [string, object])[] = [
  ["bastion", { access: "bastion" }],
  ["bastion", { bastion }],
  ["bastion", { access: "direct", bastion }],
  ["bastion.flavor", { access: "bastion", bastion: {} }],
  ["bastion.zone", { access: "bastion", bastion: { ...bastion, zone: "" } }],
  [
    "workers.bastion",
    { access: "bastion", bastion, workers: { bastion: { flavor: "m", count: 1 } } },
  ],
  ["network.existing.network", { network: { existing: {} } }],
  ["network.existing.subnet", { network: { existing: { network: "office", subnet: "" } } }],
  ["network.dns", { network: { ...office, dns: ["10.0.0.53"] } }],
  ["network.mtu", { network: { ...office, mtu: 1400 } }],
  ["network.mtu", { network: { mtu: 500 } }],
  ["network.portSecurity", { network: { portSecurity: "no" } }],
  ["network.nodePorts.0", { network: { nodePorts: ["10.0.0.1/8"] } }],
  ["network.securityGroups.0", { network: { securityGroups: [""] } }],
  ["network.securityGroups", { network: { portSecurity: false, securityGroups: ["office"] } }],
  [
    "workers.a.securityGroups",
    {
      network: { portSecurity: false },
      workers: { a: { flavor: "m", count: 1, securityGroups: ["office"] } },
    },
  ],
  ["network.admin.network", { network: { admin: { allowedCidrs: ["10.9.0.0/24"] } } }],
  ["network.admin.allowedCidrs", { network: { admin: { network: "ops" } } }],
  ["network.admin.allowedCidrs", { network: { admin: { network: "ops", allowedCidrs: [] } } }],
  ["access", { access: "admin" }],
  ["controlPlane.nodes.0.address", { controlPlane: placed("10.0.1.5") }],
  ["controlPlane.nodes.0.address", { controlPlane: placed("10.0.0.255") }],
  ["controlPlane.nodes.0.address", { controlPlane: placed("10.0.0.1") }],
  ["controlPlane.nodes.0.address", { controlPlane: placed("fd00::1") }],
  [
    "controlPlane.nodes.0.address",
    {
      controlPlane: placed("10.0.0.100"),
      endpoint: { kind: "virtual-ip", address: "10.0.0.100" },
    },
  ],
  [
    "workers.a.nodes.0.address",
    { controlPlane: placed("10.0.0.5"), workers: { a: { ...placed("10.0.0.5"), count: 1 } } },
  ],
  [
    "endpoint.floatingIp",
    { endpoint: { kind: "virtual-ip", public: false, floatingIp: "203.0.113.9" } },
  ],
  ["endpoint.floatingIp", { endpoint: { kind: "floating-ip", floatingIp: "dns.example" } }],
  ["ssh.floatingIp", { ssh: given }],
  ["ssh.floatingIp", { ssh: given, access: "direct" }],
  ["ssh.floatingIp", { ssh: given, ...balancedAt("203.0.113.9") }],
  ["ingress.floatingIp", { ingress: { ...edge, public: false } }],
  ["ingress.floatingIp", { ingress: edge, ...balancedAt("203.0.113.9") }],
  ["ingress.floatingIp", { ingress: edge, ssh: given, ...balancedAt("203.0.113.8") }],
  ["endpoint.zone", { endpoint: { kind: "load-balancer", provider: "ovn", zone: "az1" } }],
  ["endpoint.flavorId", { endpoint: { kind: "load-balancer", flavorId: "" } }],
  [
    "ingress.flavorId",
    {
      loadBalancer: { provider: "ovn" },
      ingress: { kind: "workers", pool: "general", flavorId: "f" },
    },
  ],
  ["serviceCidrs", { serviceCidrs: [] }],
  ["endpoint", { network: office, ...unrouted }],
  ["endpoint", { network: office, ...unrouted, topology: "ha" }],
  ["endpoint", { network: office, ...unrouted, endpoint: { kind: "virtual-ip" } }],
  ["externalNetwork", unrouted],
  ["loadBalancer.network.externalNetwork", { loadBalancer: { network: {} } }],
  ["loadBalancer.network.range", apart({ range: "10.1.0.1/24" })],
  ["loadBalancer.network.range", apart({ range: "10.0.0.0/25" })],
  ["loadBalancer.network.range", apart({ range: "10.244.7.0/24" })],
  ["loadBalancer.network.range", apart({ range: "10.100.0.0/24" })],
  ["loadBalancer.network", apart({}, { provider: "ovn" })],
  ["loadBalancer.network", apart({}, { enabled: false })],
  ["loadBalancer.network", { ...apart(), cloudController: { enabled: false } }],
  ["loadBalancer.networkId", apart({}, { networkId: "an ID" })],
  ["loadBalancer.subnetId", apart({}, { subnetId: "an ID" })],
  ["loadBalancer.floatingNetworkId", apart({}, { floatingNetworkId: "an ID" })],
  ["loadBalancer.classes.near.networkId", apart({}, { classes: { near: { subnetId: "an ID" } } })],
  [
    "loadBalancer.classes.machines",
    apart({}, { classes: { machines: { floatingNetworkId: "an ID" } } }),
  ],
];

describe("network and access settings", () => {
  for (const [path, over] of mistakes) {
    it(`refuses ${JSON.stringify(over)} at ${path}`, () => {
      const found = problems(over);
      assert.equal(found.length, 1, found.join("\n"));
      assert.ok(found[0]?.startsWith(`cluster.${path}: `), found[0]);
    });
  }

  it("produce error messages that say what to write", () => {
    const sentences = mistakes.flatMap(([, over]) => problems(over));
    golden("spec-errors-network.txt", `${sentences.join("\n")}\n`);
    for (const sentence of sentences) assert.match(sentence, /; .*(write|give|leave)/, sentence);
  });

  it("accept a separate network for Services in any range without overlap", () => {
    assert.equal(spec(apart()).loadBalancer.network?.range, "10.1.0.0/24");
    assert.deepEqual(problems(apart({ range: "10.0.1.0/24" })), []);
    assert.deepEqual(
      problems({ loadBalancer: { classes: { machines: { subnetId: "an ID" } } } }),
      [],
    );
  });

  it("accept floating IPs for Services without an external network for machines", () => {
    const unroutedOffice = {
      network: office,
      ...unrouted,
      endpoint: { kind: "private" },
      ...apart(),
    };
    assert.deepEqual(problems({ ...unroutedOffice, ingress: { kind: "service" } }), []);
    const balanced = { ...unroutedOffice, ingress: { kind: "workers", pool: "general" } };
    assert.match(problems(balanced).join(), /^cluster\.ingress\.public: needs a floating IP/);
  });

  it("require no external network if nothing uses a floating IP", () => {
    for (const endpoint of [
      { kind: "private" },
      { kind: "existing", host: "10.0.0.5" },
      { kind: "virtual-ip", public: false },
      { kind: "load-balancer", public: false },
    ])
      assert.deepEqual(problems({ network: office, ...unrouted, endpoint }), []);
  });

  it("accept a bastion, with generation 0 by default", () => {
    assert.deepEqual(spec({ access: "bastion", bastion }).bastion, {
      ...bastion,
      generation: 0,
      ...plainMachine,
    });
    assert.deepEqual(problems({ workers: { bastion: { flavor: "m", count: 1 } } }), []);
  });
});
