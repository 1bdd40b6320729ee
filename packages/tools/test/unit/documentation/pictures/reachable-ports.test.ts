import assert from "node:assert/strict";
import type { Fields, Row } from "../../../../../../test/support/graph/graph.js";
import { findReachablePorts } from "../../../../documentation/pictures/reachable-ports.js";

const row = (type: string, name: string, inputs: Fields): Row =>
  ({ type: `openstack:${type}`, name, inputs }) as Row;

const rule = (name: string, inputs: Fields): Row =>
  row("networking/secGroupRule:SecGroupRule", name, {
    direction: "ingress",
    protocol: "tcp",
    securityGroupId: "node-id",
    ...inputs,
  });

const groups = [
  { key: "control-plane", securityGroups: ["node"] },
  { key: "workers", securityGroups: ["node", "worker"] },
];

describe("findReachablePorts", () => {
  it("expands security groups to machine groups, for sources and targets", () => {
    const found = findReachablePorts(
      [rule("a", { portRangeMin: 22, portRangeMax: 22, remoteGroupId: "worker-id" })],
      groups,
    );
    assert.deepEqual(
      found.map(({ from, to, ports }) => [from, to, ...ports]),
      [
        ["workers", "control-plane", "22"],
        ["workers", "workers", "22"],
      ],
    );
  });

  it("joins neighbouring ranges, and both families, and names other protocols", () => {
    const range = "192.0.2.0/24";
    const [reach] = findReachablePorts(
      [
        rule("a", { portRangeMin: 2381, portRangeMax: 65535, remoteIpPrefix: range }),
        rule("b", { portRangeMin: 53, portRangeMax: 2380, remoteIpPrefix: range }),
        rule("c", { protocol: "udp", remoteIpPrefix: range }),
        rule("d", { protocol: "icmp", remoteIpPrefix: range }),
        rule("e", { protocol: "ipv6-icmp", ethertype: "IPv6", remoteIpPrefix: range }),
        rule("f", { direction: "egress", portRangeMin: 1, portRangeMax: 9, remoteIpPrefix: range }),
      ],
      groups,
    );
    assert.deepEqual(reach?.ports, ["53–65535", "udp", "icmp"]);
    assert.deepEqual(reach.shows, ["a", "b", "c", "d", "e"]);
  });

  it("contains the ranges that a listener of a load balancer accepts", () => {
    const listener = row("loadbalancer/listener:Listener", "https", {
      loadbalancerId: "balancer-id",
      protocolPort: 443,
      allowedCidrs: ["192.0.2.0/24"],
    });
    assert.deepEqual(findReachablePorts([listener], groups), [
      { from: "192.0.2.0/24", to: "balancer", ports: ["443"], shows: ["https"] },
    ]);
  });
});
