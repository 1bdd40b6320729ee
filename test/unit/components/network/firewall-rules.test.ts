import { strict as assert } from "node:assert";
import fc from "fast-check";
import { getFirewallRules } from "../../../../components/network/firewall-plan.js";
import {
  buildFirewallRules,
  type FirewallPlan,
  type FirewallRule,
} from "../../../../components/network/firewall-rules.js";
import { listSecurityGroupKeys } from "../../../../components/plan/cluster-plan.js";
import type { MachineRole } from "../../../../components/config/roles.js";
import { getEndpointTraits } from "../../../../components/config/load-balancing/endpoint-traits.js";
import type { ClusterArgs } from "../../../../components/config/cluster-spec.js";
import { specOf } from "../../../support/config/spec.js";
import { podNetworkOf } from "../../../support/config/pod-networks.js";
import { golden } from "../../../support/golden.js";
import { nonEmpty } from "../../../support/non-empty.js";

const plan: FirewallPlan = {
  sshCidrs: ["203.0.113.0/24", "2001:db8::/32"],
  nodes: "10.0.0.0/24",
  pods: ["10.244.0.0/16"],
  podNetwork: podNetworkOf("kube-router"),
  entry: "control-plane",
  reached: ["control-plane"],
  separate: [],
  etcdOn: ["control-plane"],
  balanced: true,
  loadBalancerProvider: "amphora",
  serviceCidrs: ["203.0.113.0/24"],
  nodePorts: [],
  adminCidrs: [],
  more: [],
};

/** Returns the firewall plan of a whole cluster: nodes and endpoint. */
const withEndpoint = (of: FirewallPlan, kind: "floating-ip" | "virtual-ip"): FirewallPlan => {
  const { firewall } = getEndpointTraits({
    endpoint: kind === "floating-ip" ? { kind } : { kind, public: true },
    allowedCidrs: [...of.sshCidrs],
    network: of,
  });
  return { ...of, more: firewall };
};

const sourceOf = ({ from }: FirewallRule): string => ("group" in from ? from.group : from.range);

const opens = (rule: FirewallRule, port: number): boolean =>
  rule.ports === undefined || (rule.ports[0] <= port && port <= rule.ports[1]);

/** Returns the sources that may reach a TCP port of a role. */
const reachable = (role: MachineRole, port: number, from = plan): string[] =>
  buildFirewallRules(from)
    .filter((rule) => listSecurityGroupKeys(role).includes(rule.group) && opens(rule, port))
    .filter(({ protocol }) => protocol === undefined || protocol === "tcp")
    .map(sourceOf)
    .filter((source, index, all) => all.indexOf(source) === index)
    .sort();

describe("firewall rules", () => {
  it("match the reviewed table", () => {
    const lines = buildFirewallRules(withEndpoint(plan, "virtual-ip")).map((rule) =>
      [
        rule.group.padEnd(13),
        rule.ethertype,
        (rule.protocol ?? "any").padEnd(9),
        (rule.ports?.join("-") ?? "any").padEnd(11),
        sourceOf(rule).padEnd(14),
        rule.reason,
      ].join("  "),
    );
    golden("firewall.txt", `${lines.join("\n")}\n`);
  });

  it("have a unique key and a reason each", () => {
    const rules = buildFirewallRules(plan);
    assert.equal(new Set(rules.map(({ key }) => key)).size, rules.length);
    assert.ok(rules.every(({ reason }) => reason.length > 5));
  });

  it("admit SSH from sshCidrs and the API from allowedCidrs", () => {
    const from = (over: object, port: number): string[] =>
      getFirewallRules(specOf(over))
        .filter(({ ports, from: source }) => "range" in source && ports?.[0] === port)
        .map(sourceOf);
    const [api, ssh] = ["203.0.113.0/24", "198.51.100.0/24"];
    const over = { allowedCidrs: [api] };
    assert.deepEqual([from(over, 6443), from(over, 22)], [[api], [api]]);
    const apart = { ...over, sshCidrs: [ssh] };
    assert.deepEqual([from(apart, 6443), from(apart, 22)], [[api], [ssh]]);
  });

  it("never admit all addresses", () => {
    const everywhere = ["0.0.0.0/0", "::/0"];
    assert.deepEqual(
      buildFirewallRules(plan).filter((rule) => everywhere.includes(sourceOf(rule))),
      [],
    );
  });

  it("admit SSH to workers from control planes only", () => {
    assert.deepEqual(reachable("worker", 22), ["10.244.0.0/16", "control-plane"]);
  });

  it("admit external SSH to the bastion only, and internal SSH from the bastion and from joining machines", () => {
    const behind = {
      ...plan,
      entry: "bastion",
      reached: ["bastion"],
      separate: ["bastion"],
    } as const;
    assert.deepEqual(reachable("bastion", 22, behind), ["2001:db8::/32", "203.0.113.0/24"]);
    assert.deepEqual(reachable("worker", 22, behind), ["10.244.0.0/16", "bastion"]);
    assert.deepEqual(reachable("control-plane", 22, behind), [
      ...["10.244.0.0/16", "bastion", "control-plane", "worker"],
    ]);
    for (const port of [80, 2379, 6443, 10250, 30080])
      assert.deepEqual(reachable("bastion", port, behind), []);
  });

  it("admit external SSH to every node if users reach each node directly", () => {
    const direct = { ...plan, reached: ["control-plane", "worker"] } as const;
    assert.ok(reachable("worker", 22, direct).includes("203.0.113.0/24"));
    assert.ok(reachable("control-plane", 22, direct).includes("203.0.113.0/24"));
  });

  it("admit control planes, and pods through the machines' ports, to etcd", () => {
    assert.deepEqual(reachable("control-plane", 2379), ["10.244.0.0/16", "control-plane"]);
    assert.deepEqual(reachable("worker", 2379), ["10.244.0.0/16"]);
  });

  it("admit only etcd's machines and control planes to etcd's own machines", () => {
    const dedicated = { ...plan, etcdOn: ["etcd"], separate: ["etcd"] } as const;
    const both = ["control-plane", "etcd"];
    assert.deepEqual(reachable("etcd", 2379, dedicated), both);
    assert.deepEqual(reachable("etcd", 2380, dedicated), ["etcd"]);
    assert.deepEqual(reachable("etcd", 22, dedicated), both);
    assert.deepEqual(reachable("etcd", 22, { ...dedicated, entry: "bastion" }), [
      ...["bastion", "control-plane", "etcd"],
    ]);
    assert.deepEqual(reachable("control-plane", 2379, dedicated), ["10.244.0.0/16"]);
    for (const port of [80, 2381, 6443, 10250, 30080])
      assert.deepEqual(reachable("etcd", port, dedicated), [], String(port));
    assert.deepEqual(reachable("etcd", 2379), []);
  });

  it("admit all machines to the API, and the endpoint's clients", () => {
    assert.deepEqual(reachable("control-plane", 6443), ["10.244.0.0/16", "node"]);
    assert.deepEqual(reachable("control-plane", 6443, withEndpoint(plan, "floating-ip")), [
      ...["10.244.0.0/16", "2001:db8::/32", "203.0.113.0/24", "node"],
    ]);
  });

  it("contain no duplicates if a range is written twice", () => {
    const twice = { ...plan, sshCidrs: [...plan.sshCidrs, ...plan.sshCidrs] };
    assert.deepEqual(buildFirewallRules(twice), buildFirewallRules(plan));
  });

  it("admit only the load balancers' subnet and machines to node ports", () => {
    assert.deepEqual(reachable("worker", 30080), ["10.0.0.0/24", "10.244.0.0/16", "node"]);
  });

  it("do not admit the machines' subnet to node ports without a load balancer", () => {
    const alone = { ...plan, balanced: false };
    const others = ["10.244.0.0/16", "node"];
    assert.deepEqual(reachable("worker", 30080, alone), others);
    assert.deepEqual(reachable("worker", 10256, alone), others);
    assert.deepEqual(reachable("worker", 30080, { ...alone, loadBalancerProvider: "ovn" }), others);
    const open = { ...alone, nodePorts: ["192.0.2.0/24"] };
    assert.deepEqual(reachable("worker", 30080, open), [
      ...others.slice(0, 1),
      "192.0.2.0/24",
      "node",
    ]);
    const gone = new Set(buildFirewallRules(alone).map(({ key }) => key));
    const rest = buildFirewallRules(plan).filter(({ key }) => !gone.has(key));
    assert.deepEqual(
      rest.map(({ key }) => key.replace("-from-10.0.0.0-24-v4", "")),
      ["node-node-ports-tcp", "node-node-ports-udp", "node-service-health"],
    );
  });

  it("admit load balancers to node ports if Services or an ingress pool use them", () => {
    const balanced = (over: Partial<ClusterArgs>): boolean =>
      getFirewallRules(specOf(over)).some(({ key }) => key.startsWith("node-service-health"));
    assert.ok(balanced({}));
    assert.ok(balanced({ cloudController: { enabled: false } }), "there may be another one");
    const off = { loadBalancer: { enabled: false } };
    assert.ok(!balanced(off));
    assert.ok(
      balanced({ ...off, network: { nodePorts: ["192.0.2.0/24"] } }),
      "the load balancer of the user",
    );
  });

  it("admit nodes to pods on other nodes on any port, because masquerading uses the node's address", () => {
    for (const role of ["control-plane", "worker"] as const)
      for (const port of [53, 80, 8080, 9153, 10250, 65535])
        assert.ok(reachable(role, port).includes("node"), `${role} ${String(port)}`);
  });

  it("admit pod packets as the pod network sends them: with pod addresses or in VXLAN", () => {
    const passing = (written: unknown): string[] =>
      buildFirewallRules({ ...plan, podNetwork: podNetworkOf(written) })
        .filter(({ key }) => /-(pods|vxlan)-/.test(key))
        .map(({ key, protocol = "any", ports = [] }) => [key, protocol, ...ports].join(" "));
    assert.deepEqual(passing("kube-router"), ["node-pods-from-10.244.0.0-16-v4 any"]);
    assert.deepEqual(passing("flannel"), [
      "node-vxlan-from-node-v4 udp 8472 8472",
      "node-vxlan-from-node-v6 udp 8472 8472",
    ]);
    for (const routed of [{ kind: "flannel", backend: "host-gw" }, "none"])
      assert.deepEqual(passing(routed), passing("kube-router"));
    const wrapped = buildFirewallRules({ ...plan, podNetwork: podNetworkOf("flannel") });
    assert.ok(!wrapped.map(sourceOf).includes("10.244.0.0/16"));
  });

  it("admit pod packets of each IP family by a separate rule", () => {
    const pods = ["10.244.0.0/16", "fd00:10:244::/56"];
    const rules = buildFirewallRules({ ...plan, pods }).filter(({ key }) =>
      key.startsWith("node-pods"),
    );
    assert.deepEqual(
      rules.map(({ key, ethertype, from }) => [key, ethertype, from]),
      [
        ["node-pods-from-10.244.0.0-16-v4", "IPv4", { range: "10.244.0.0/16" }],
        ["node-pods-from-fd00-10-244---56-v6", "IPv6", { range: "fd00:10:244::/56" }],
      ],
    );
  });

  it("admit clients to node ports if the load balancer keeps their addresses", () => {
    const ovn = { ...plan, loadBalancerProvider: "ovn" };
    assert.ok(reachable("worker", 30080, ovn).includes("203.0.113.0/24"));
  });

  it("admit the Services' clients and network.nodePorts to node ports, not the API's clients", () => {
    const other = { ...plan, loadBalancerProvider: "ovn", serviceCidrs: ["198.51.100.0/24"] };
    const seen = reachable("worker", 30080, other);
    assert.ok(seen.includes("198.51.100.0/24") && !seen.includes("203.0.113.0/24"));
    const open = { ...plan, nodePorts: ["192.0.2.0/24"] };
    assert.ok(reachable("worker", 30080, open).includes("192.0.2.0/24"));
    assert.ok(!reachable("worker", 10256, open).includes("192.0.2.0/24"));
    // Neutron refuses duplicate rules, and rules of existing clusters keep their description.
    const both = { ...other, nodePorts: other.serviceCidrs };
    assert.deepEqual(
      buildFirewallRules(both)
        .map((rule) => JSON.stringify(rule))
        .sort(),
      buildFirewallRules(other)
        .map((rule) => JSON.stringify(rule))
        .sort(),
    );
  });

  it("refer to machines by group in both IP versions", () => {
    for (const rule of nonEmpty(buildFirewallRules(plan).filter(({ from }) => "group" in from))) {
      const twin = rule.key.replace(/v[46]$/, rule.ethertype === "IPv4" ? "v6" : "v4");
      assert.ok(
        buildFirewallRules(plan).some(({ key }) => key === twin),
        twin,
      );
    }
  });

  it("give every range the ethertype of its addresses", () => {
    const ofRanges = buildFirewallRules(plan).flatMap(({ from, ethertype }) =>
      "range" in from ? [{ range: from.range, ethertype }] : [],
    );
    for (const { range, ethertype } of nonEmpty(ofRanges))
      assert.equal(ethertype, range.includes(":") ? "IPv6" : "IPv4");
  });

  it("use the ICMP protocol of each IP version", () => {
    const pings = buildFirewallRules(plan).filter(({ key }) => key.includes("ping"));
    assert.ok(pings.length > 0);
    for (const { ethertype, protocol } of pings)
      assert.equal(protocol, ethertype === "IPv6" ? "ipv6-icmp" : "icmp");
  });

  it("keep all other keys if a range is added or removed", () => {
    const ranges = fc.uniqueArray(fc.integer({ min: 0, max: 255 }), { minLength: 1, maxLength: 6 });
    fc.assert(
      fc.property(ranges, (octets) => {
        const cidrs = octets.map((octet) => `198.51.${String(octet)}.0/24`);
        const all = buildFirewallRules({ ...plan, sshCidrs: cidrs }).map(({ key }) => key);
        const fewer = buildFirewallRules({ ...plan, sshCidrs: cidrs.slice(1) }).map(
          ({ key }) => key,
        );
        assert.deepEqual(
          fewer.filter((key) => !all.includes(key)),
          [],
        );
      }),
    );
  });
});
