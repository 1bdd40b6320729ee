import assert from "node:assert/strict";
import {
  ingressPorts,
  getIngressTraits,
} from "../../../../../components/config/load-balancing/ingress-traits.js";
import { getFirewallRules } from "../../../../../components/network/firewall-plan.js";
import { parseClusterSpec } from "../../../../../components/config/cluster-spec.js";
import { smallest } from "../../../../support/config/spec.js";

describe("getIngressTraits", () => {
  it("uses distinct node ports that Kubernetes does not assign by itself", () => {
    const ports = ingressPorts.map(({ nodePort }) => nodePort);
    assert.equal(new Set(ports).size, ports.length);
    for (const port of ports) assert.ok(port >= 30_000 && port < 30_000 + 86, String(port));
  });

  for (const provider of ["amphora", "ovn"])
    it(`opens the node ports to the load balancer's subnet: ${provider}`, () => {
      const ingress = { kind: "workers", pool: "general" };
      const parsed = parseClusterSpec({ ...smallest, ingress, loadBalancer: { provider } });
      assert.ok("spec" in parsed);
      const open = getFirewallRules(parsed.spec).filter(
        ({ from, protocol }) =>
          "range" in from && from.range === parsed.spec.network.nodes && protocol === "tcp",
      );
      for (const { nodePort } of ingressPorts)
        assert.ok(
          open.some(({ ports: [least, most] = [0, 0] }) => least <= nodePort && nodePort <= most),
        );
    });

  it("counts nothing, or one load balancer with a floating IP unless the user supplies one", () => {
    const common = { replicas: 2, defaultClass: true } as const;
    const of = (ingress: Parameters<typeof getIngressTraits>[0]["ingress"]): number[] => {
      const { loadBalancers, ports, floatingIps, securityGroups } = getIngressTraits({ ingress });
      return [loadBalancers, ports, floatingIps, securityGroups];
    };
    const service = { ...common, kind: "service", public: true } as const;
    assert.deepEqual(of(undefined), [0, 0, 0, 0]);
    assert.deepEqual(of(service), [1, 1, 1, 1]);
    assert.deepEqual(of({ ...service, address: "203.0.113.9" }), [1, 1, 0, 1]);
    assert.deepEqual(of({ ...service, public: false }), [1, 1, 0, 1]);
    const workers = { ...common, kind: "workers", pool: "edge", public: true } as const;
    assert.deepEqual(of(workers), [1, 1, 1, 0]);
    assert.deepEqual(of({ ...workers, public: false }), [1, 1, 0, 0]);
  });
});
