import { strict as assert } from "node:assert";
import fc from "fast-check";
import {
  parseClusterSpec,
  type ClusterSpec,
} from "../../../../../components/config/cluster-spec.js";
import {
  getEndpointTraits,
  normalizeListenerRanges,
  listServiceClientRanges,
  type EndpointTraits,
} from "../../../../../components/config/load-balancing/endpoint-traits.js";
import { smallest } from "../../../../support/config/spec.js";

const spec = (endpoint: object): ClusterSpec => {
  const result = parseClusterSpec({ ...smallest, endpoint });
  assert.ok("spec" in result, JSON.stringify(result));
  return result.spec;
};
const traits = (endpoint: object): EndpointTraits => getEndpointTraits(spec(endpoint));

/** Returns the sources, except machines, that may reach the API of a control plane. */
const callers = ({ firewall }: EndpointTraits): string[] =>
  firewall
    .filter(({ name }) => name === "api")
    .flatMap(({ from }) => from.map((one) => ("range" in one ? one.range : one.group)));

const clients = "203.0.113.0/24";
const nodes = "10.0.0.0/24";

describe("getEndpointTraits", () => {
  const counts: readonly (readonly [object, readonly [number, number, number]])[] = [
    [{ kind: "floating-ip" }, [1, 0, 0]],
    [{ kind: "load-balancer" }, [1, 1, 1]],
    [{ kind: "load-balancer", public: false }, [0, 1, 1]],
    [{ kind: "virtual-ip" }, [1, 0, 1]],
    [{ kind: "virtual-ip", public: false }, [0, 0, 1]],
    [{ kind: "existing", host: "203.0.113.7" }, [0, 0, 0]],
    [{ kind: "private" }, [0, 0, 0]],
  ];
  for (const [endpoint, expected] of counts)
    it(`counts floating IPs, load balancers and ports of ${JSON.stringify(endpoint)}`, () => {
      const { floatingIps, loadBalancers, ports } = traits(endpoint);
      assert.deepEqual([floatingIps, loadBalancers, ports], expected);
    });

  it("admits clients to control planes if no load balancer of the cluster is in between", () => {
    for (const endpoint of [
      ...[{ kind: "floating-ip" }, { kind: "virtual-ip" }, { kind: "private" }],
      { kind: "existing", host: "api.example.org" },
    ])
      assert.deepEqual(callers(traits(endpoint)), [clients]);
  });

  it("admits only an amphora's subnet to control planes, and clients too with OVN, which keeps their addresses", () => {
    assert.deepEqual(callers(traits({ kind: "load-balancer" })), [nodes]);
    assert.deepEqual(callers(traits({ kind: "load-balancer", provider: "ovn" })), [nodes, clients]);
  });

  it("returns a VRRP rule and the package keepalived for a virtual IP only", () => {
    const { firewall, packages } = traits({ kind: "virtual-ip" });
    const [row, ...more] = firewall.filter(({ protocol }) => protocol === "vrrp");
    assert.deepEqual(
      [row?.group, row?.from, more],
      ["control-plane", [{ group: "control-plane" }], []],
    );
    assert.deepEqual(packages, ["keepalived"]);
    assert.deepEqual(traits({ kind: "load-balancer" }).packages, []);
  });
});

describe("allowed ranges of a load balancer", () => {
  it("contain clients and machines, without ranges of the other IP version", () => {
    const clients = ["2001:db8::/32", "203.0.113.0/24", "10.0.0.0/24", "192.0.2.0/24"];
    assert.deepEqual(normalizeListenerRanges([...clients, nodes]), [
      ...["10.0.0.0/24", "192.0.2.0/24", "203.0.113.0/24"],
    ]);
  });

  it("contain pods too if the balancer is for Services", () => {
    const network = { nodes, pods: "10.244.0.0/16" };
    assert.deepEqual(listServiceClientRanges({ serviceCidrs: ["203.0.113.0/24"], network }), [
      ...["10.0.0.0/24", "10.244.0.0/16", "203.0.113.0/24"],
    ]);
  });

  it("do not depend on the written order", () => {
    const ranges = fc.uniqueArray(fc.integer({ min: 0, max: 255 }), { minLength: 1, maxLength: 6 });
    const of = (octets: readonly number[]): string[] =>
      normalizeListenerRanges([...octets.map((octet) => `198.51.${String(octet)}.0/24`), nodes]);
    fc.assert(
      fc.property(ranges, (octets) => {
        assert.deepEqual(of(octets), of([...octets].reverse()));
        assert.ok(of(octets).includes(nodes));
      }),
    );
  });
});
