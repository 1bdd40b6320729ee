import { strict as assert } from "node:assert";
import {
  parseClusterSpec,
  type ClusterArgs,
} from "../../../../../components/config/cluster-spec.js";
import {
  findFrozenValueChanges,
  collectFrozenValues,
} from "../../../../../components/config/immutable-fields.js";
import { golden } from "../../../../support/golden.js";
import { smallest, specOf } from "../../../../support/config/spec.js";

const problems = (over: object): string[] => {
  const result = parseClusterSpec({ ...smallest, ...over });
  return "problems" in result
    ? result.problems.map(({ path, message }) => `${path}: ${message}`)
    : [];
};

const nodes = "fd00:10::/64";
const both = (over: object = {}, network: object = {}) => ({
  podNetwork: "none",
  network: { ...network, ipv6: { nodes, ...over } },
});

/** Wrong values with the path that the error must name, one per row. */
const mistakes: readonly (readonly [string, object])[] = [
  ["network.nodes", { network: { nodes } }],
  ["network.pods", { network: { pods: "fd00:10:244::/56" } }],
  ["network.ipv6.nodes", { network: { ipv6: {} } }],
  ["network.ipv6.nodes", both({ nodes: "10.1.0.0/24" })],
  ["network.ipv6.nodes", both({ nodes: "fd00:10::/60" })],
  ["network.ipv6.nodes", both({ nodes: "fd00:10::1/64" })],
  ["network.ipv6.nodes", both({ nodes: "FD00:10::/64" })],
  ["network.ipv6.nodes", both({ nodes: "fd00:10:0:0::/64" })],
  ["network.ipv6.mode", both({ mode: "dhcpv6-stateless" })],
  ["network.ipv6.pods", both({ pods: "fd00:10:244::/44" })],
  ["network.ipv6.pods", { ...both({ pods: "fd00:10:244::/63" }), podNetwork: "flannel" }],
  ["network.ipv6.pods", both({ pods: "fd00:10::/56" })],
  ["network.ipv6.services", both({ services: "fd00:10:96::/104" })],
  ["network.ipv6.services", both({ services: "fd00:10:244:1::/112" })],
  ["network.ipv6", both({}, { existing: { network: "office" } })],
  [
    "cloudController.networking.ipv6SupportDisabled",
    { ...both(), cloudController: { networking: { ipv6SupportDisabled: true } } },
  ],
  [
    "kubernetes.controllerManager.extraArgs.node-cidr-mask-size",
    { ...both(), kubernetes: { controllerManager: { extraArgs: { "node-cidr-mask-size": 25 } } } },
  ],
  ["network.mtu", { ...both({}, { mtu: 1349 }), podNetwork: "flannel" }],
  ["network.ipv6.mode", { ...both({ mode: "dhcpv6-stateful" }), podNetwork: "kube-router" }],
  ["podNetwork", { ...both(), podNetwork: { kind: "kube-router", overlay: "subnet" } }],
  ["podNetwork", { ...both(), podNetwork: { kind: "calico", encapsulation: "ipip" } }],
  ["podNetwork", { ...both(), podNetwork: "canal" }],
  ["podNetwork", { ...both(), podNetwork: "cloud-routes" }],
];

describe("network.ipv6", () => {
  it("has its own ranges, and is off by default", () => {
    assert.equal(specOf().network.ipv6, undefined);
    assert.deepEqual(specOf(both() as Partial<ClusterArgs>).network.ipv6, {
      nodes,
      mode: "slaac",
      pods: "fd00:10:244::/56",
      services: "fd00:10:96::/112",
    });
  });

  it("produces one reviewed error message for each unsupported combination", () => {
    const sentences = mistakes.map(([path, over]) => {
      const [only, ...more] = problems(over);
      assert.deepEqual(more, [], path);
      assert.ok(only?.startsWith(`cluster.${path}: `), `${path}: ${String(only)}`);
      return only;
    });
    golden("spec-errors-ipv6.txt", `${sentences.join("\n")}\n`);
  });

  it("can be neither added, removed nor changed in an existing cluster", () => {
    const changed = (before: object, now: object): string[] =>
      findFrozenValueChanges(
        collectFrozenValues(specOf(before as Partial<ClusterArgs>)),
        collectFrozenValues(specOf(now as Partial<ClusterArgs>)),
      ).map(({ path, message }) => `${path}: ${message}`);
    const none = { podNetwork: "none" };
    assert.deepEqual(changed(both(), both()), []);
    assert.deepEqual(changed(none, both()), [
      `cluster.network.ipv6.nodes: nothing cannot become ${nodes} while the cluster exists; leave it out again, or destroy the cluster and create it again`,
    ]);
    assert.match(changed(both(), none).join(), /network\.ipv6\.nodes: fd00:10::\/64 cannot become/);
    assert.equal(changed(both(), both({ pods: "fd00:10:200::/56" })).length, 1);
    assert.equal(changed(both(), both({ mode: "dhcpv6-stateful" })).length, 1);
  });
});
