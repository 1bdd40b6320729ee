import { strict as assert } from "node:assert";
import { Cluster } from "../../../components/cluster.js";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import type { NodeOutput } from "../../../components/cluster-outputs.js";
import { getClusterRequirements } from "../../../components/cloud-requirements.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import { graph, type GraphOptions, type Row } from "../../support/graph/graph.js";
import { smallest, specOf } from "../../support/config/spec.js";
import { renderSentScript } from "../../support/graph/sent.js";
import { value } from "../../support/graph/output-value.js";

const ipv6 = { nodes: "fd00:10::/64" };
const port = "openstack:networking/port:Port";
const six = "fd00:10::f816:3eff:fe00:1";
/** Neutron returns a port's addresses in any order: here IPv6 first. */
const answers: GraphOptions = {
  ...cloudAnswers,
  outputs: {
    ...cloudAnswers.outputs,
    [port]: (inputs, name) => {
      const of = cloudAnswers.outputs?.[port]?.(inputs, name);
      return { ...of, allFixedIps: [six, ...((of?.["allFixedIps"] ?? []) as string[])] };
    },
  },
};

let cluster: Cluster | undefined;
const build = (
  network: ClusterArgs["network"],
  over: Partial<ClusterArgs> = {},
  options = answers,
): Promise<readonly Row[]> =>
  graph(
    () => (cluster = new Cluster("dev", { ...smallest, podNetwork: "none", ...over, network })),
    options,
  );
const nodes = (): Promise<readonly NodeOutput[]> => {
  assert.ok(cluster);
  return value(cluster.nodes);
};
const named = (rows: readonly Row[], name: string): Row["inputs"] => {
  const found = rows.find((row) => row.name === name);
  assert.ok(found, name);
  return found.inputs;
};

describe("a dual-stack cluster", () => {
  let rows: readonly Row[];
  before(async () => {
    rows = await build({ ipv6, dns: ["10.0.0.53", "fd00:53::1"] });
  });

  it("has an IPv6 subnet with SLAAC on the same router", () => {
    const { networkId, cidr, ipVersion, ipv6AddressMode, ipv6RaMode, dnsNameservers } = named(
      rows,
      "dev-network-ipv6-subnet",
    );
    assert.deepEqual(
      { networkId, cidr, ipVersion, ipv6AddressMode, ipv6RaMode, dnsNameservers },
      {
        networkId: "dev-network-network-id",
        cidr: "fd00:10::/64",
        ipVersion: 6,
        ipv6AddressMode: "slaac",
        ipv6RaMode: "slaac",
        dnsNameservers: ["fd00:53::1"],
      },
    );
    assert.deepEqual(named(rows, "dev-network-subnet")["dnsNameservers"], ["10.0.0.53"]);
    assert.deepEqual(named(rows, "dev-network-ipv6-router-interface"), {
      routerId: "dev-network-router-id",
      subnetId: "dev-network-ipv6-subnet-id",
    });
  });

  it("gives each port addresses and ranges of both families", () => {
    const ports = rows.filter(({ type }) => type === port);
    assert.equal(ports.length, 3);
    for (const { inputs } of ports) {
      assert.deepEqual(inputs["fixedIps"], [
        { subnetId: "dev-network-subnet-id" },
        { subnetId: "dev-network-ipv6-subnet-id" },
      ]);
      assert.deepEqual(inputs["allowedAddressPairs"], [
        ...["10.244.0.0/16", "fd00:10:244::/56", "10.96.0.0/12", "fd00:10:96::/112"].map(
          (ipAddress) => ({ ipAddress }),
        ),
      ]);
    }
  });

  it("passes both addresses to kubelets and both ranges to kubeadm, IPv4 first", () => {
    const text = (name: string): string => renderSentScript(named(rows, name));
    const init = text("dev-control-plane-0-init");
    assert.match(init, /podSubnet: "?10\.244\.0\.0\/16,fd00:10:244::\/56/);
    assert.match(init, /serviceSubnet: "?10\.96\.0\.0\/12,fd00:10:96::\/112/);
    for (const one of [init, text("dev-workers-general-0-join")])
      assert.match(one, /value: "?10\.0\.0\.\d+,fd00:10::f816:3eff:fe00:1/);
    assert.match(text("dev-workers-general-0-prepare"), /IPV6_ADDRESS='?fd00:10::f816:3eff:fe00:1/);
  });

  it("publishes the IPv4 and the IPv6 address of each node", async () => {
    const [node] = await nodes();
    assert.match(node?.address ?? "", /^10\.0\.0\./);
    assert.equal(node?.ipv6Address, six);
  });

  it("uses an IPv4 address for the API", async () => {
    const ha = { topology: "ha" } as const;
    const balanced = await build({ ipv6 }, ha);
    const { vipPortId, vipAddress } = named(balanced, "dev-endpoint-load-balancer");
    assert.equal(vipPortId, "dev-endpoint-port-id");
    assert.match(String(vipAddress), /^10\.0\.0\./);
    assert.ok(!("vipAddress" in named(await build({}, ha), "dev-endpoint-load-balancer")));
    const shared = await build({ ipv6 }, { ...ha, endpoint: { kind: "virtual-ip" } });
    const stdin = renderSentScript(named(shared, "dev-control-plane-0-init"));
    assert.match(stdin, /VIRTUAL_IP='?10\.0\.0\./);
  });

  it("requires one more subnet, port and security group rule", () => {
    const one = getClusterRequirements(specOf({ podNetwork: "none" })).counts;
    const both = getClusterRequirements(specOf({ podNetwork: "none", network: { ipv6 } })).counts;
    const rules = one["security group rules"] + 1;
    assert.deepEqual(both, {
      ...one,
      subnets: one.subnets + 1,
      ports: one.ports + 1,
      "security group rules": rules,
    });
  });
});

describe("a cluster without IPv6", () => {
  it("ignores IPv6 addresses that Neutron gives to ports", async () => {
    const rows = await build({});
    assert.equal(rows.filter(({ name }) => name.includes("ipv6")).length, 0);
    const [node] = await nodes();
    assert.match(node?.address ?? "", /^10\.0\.0\./);
    assert.ok(node && !("ipv6Address" in node));
    const prepare = renderSentScript(named(rows, "dev-workers-general-0-prepare"));
    assert.ok(!prepare.includes("IPV6_"));
  });
});
