import { strict as assert } from "node:assert";
import * as pulumi from "@pulumi/pulumi";
import { Cluster } from "../../../components/cluster.js";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import { lookUpCloud, type CloudFacts } from "../../../components/lookup/cloud-lookup.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import { graph, type Fields, type GraphOptions, type Row } from "../../support/graph/graph.js";
import { smallest } from "../../support/config/spec.js";
import { value } from "../../support/graph/output-value.js";

type Lookups = NonNullable<GraphOptions["lookups"]>;
const refuse = (reason: string) => (): never => {
  const details = `invocation returned an error: 1 error occurred:\n\t* ${reason}\n`;
  throw Object.assign(new Error(details), { code: 2, details });
};
const nothing = refuse("Your query returned no results. Please change your search criteria");
const subnets: Readonly<Record<string, Fields>> = {
  s4: { id: "s4", name: "machines", cidr: "10.0.0.0/24", ipVersion: 4, gatewayIp: "10.0.0.254" },
  other: { id: "other", name: "others", cidr: "10.9.0.0/24", ipVersion: 4 },
  s6: { id: "s6", name: "machines6", cidr: "fd00::/64", ipVersion: 6 },
};
const outside = [{ ipAddress: "203.0.113.2", subnetId: "s0" }];
const unrouted = { id: "r", externalNetworkId: "", externalFixedIps: [] };
const lookups: Lookups = {
  ...cloudAnswers.lookups,
  "openstack:networking/getNetwork:getNetwork": ({ name, external }) => {
    if (external === true) return { id: "external-network-id", name: "public" };
    return name === "office" ? { id: "n", mtu: 1400, subnets: Object.keys(subnets) } : nothing();
  },
  "openstack:networking/getSubnet:getSubnet": ({ subnetId }) => subnets[String(subnetId)] ?? {},
  "openstack:networking/getRouter:getRouter": ({ name }) =>
    name === "gateway"
      ? { id: "r", externalNetworkId: "external-network-id", externalFixedIps: outside }
      : refuse("No Router found")(),
  "openstack:networking/getPort:getPort": ({ networkId, deviceId }) =>
    networkId === "n" && deviceId === "r"
      ? { id: "p" }
      : refuse("No openstack_networking_port_v2 found")(),
};
const office: Partial<ClusterArgs> = { network: { existing: { network: "office" } } };

const build = async (
  over: Partial<ClusterArgs> = office,
): Promise<{ readonly rows: readonly Row[]; readonly cluster: Cluster }> => {
  let cluster: Cluster | undefined;
  const program = (): Cluster => (cluster = new Cluster("dev", { ...smallest, ...over }));
  const rows = await graph(program, { ...cloudAnswers, lookups });
  assert.ok(cluster);
  return { rows, cluster };
};
const named = (rows: readonly Row[], name: string): Row => {
  const found = rows.find((row) => row.name === name);
  assert.ok(found, name);
  return found;
};

describe("an existing network", () => {
  it("is looked up and not created", async () => {
    const { rows, cluster } = await build();
    const made = rows.filter(({ type }) => /networking\/(network|subnet|router)/.test(type));
    assert.deepEqual(made, []);
    for (const { inputs } of rows.filter(({ type }) => type.endsWith(":Port"))) {
      assert.equal(inputs["networkId"], "n");
      assert.deepEqual(inputs["fixedIps"], [{ subnetId: "s4" }]);
    }
    assert.deepEqual([await value(cluster.networkId), await value(cluster.subnetId)], ["n", "s4"]);
    assert.equal(await value(cluster.routerId), undefined);
    const { inputs } = named(rows, "dev-endpoint-floating-ip");
    assert.equal(inputs["portId"], "dev-control-plane-0-port-id");
  });

  it("provides its MTU to pods and its IDs to the cloud controller", async () => {
    const { rows } = await build();
    const conf = JSON.stringify(named(rows, "dev-addons-cloud-config-secret").inputs);
    assert.match(conf, /network-id = \\*"n\\*"/);
    const network = rows.filter(({ name }) => name.startsWith("dev-addons-network-"));
    assert.match(JSON.stringify(network.map(({ inputs }) => inputs)), /1400/);
  });

  it("is recorded in the immutable values by its IDs", async () => {
    const { rows } = await build({
      network: { existing: { network: "office", subnet: "machines", router: "gateway" } },
    });
    const kept = named(rows, "dev-frozen").inputs["environment"] as Fields;
    assert.deepEqual(
      ["network", "subnet", "router"].map((part) => kept[`network.existing.${part}`]),
      ["n", "s4", "r"],
    );
  });

  it("has no floating IPs without an external network", async () => {
    const { rows, cluster } = await build({
      ...office,
      externalNetwork: undefined,
      endpoint: { kind: "virtual-ip", public: false },
      topology: "ha",
      access: "bastion",
      bastion: { flavor: "tiny" },
    });
    assert.deepEqual(
      rows.filter(({ type }) => type.endsWith(":FloatingIp")),
      [],
    );
    const [bastion] = await value(cluster.separateMachines.bastion ?? assert.fail());
    assert.equal(bastion?.sshHost, bastion?.address);
    assert.equal(
      "externalNetwork" in (named(rows, "dev-frozen").inputs["environment"] as object),
      false,
    );
    const conf = JSON.stringify(named(rows, "dev-addons-cloud-config-secret").inputs);
    assert.match(conf, /internal-lb = \\*"true/);
    assert.doesNotMatch(conf, /floating-network-id/);
  });

  it("makes each machine an SSH entry with direct access", async () => {
    const { cluster } = await build({
      ...office,
      externalNetwork: undefined,
      endpoint: { kind: "private" },
      access: "direct",
    });
    const nodes = await value(cluster.nodes);
    assert.equal(nodes.length, 3);
    for (const { sshHost, address } of nodes) assert.equal(sshHost, address);
    const [first = ""] = await value(cluster.hostKeys);
    const [hosts] = first.split(" ");
    assert.equal(hosts, `dev-control-plane-0,${nodes[0]?.address ?? ""}`);
  });
});

describe("the lookup of an existing network", () => {
  const wanted = { images: ["debian"], flavors: ["m"], externalNetwork: "public" };
  const look = async (network: object, changes: Lookups = {}): Promise<CloudFacts> => {
    let found: Promise<CloudFacts> | undefined;
    const asked = { network: "office", nodes: "10.0.0.0/24", ...network };
    const program = (): Promise<CloudFacts> => (found = lookUpCloud({ ...wanted, network: asked }));
    await graph(program, { ...cloudAnswers, lookups: { ...lookups, ...changes } });
    assert.ok(found);
    return found;
  };
  const refused: readonly (readonly [string, object, string, Lookups?])[] = [
    [
      "an unknown network",
      { network: "n2" },
      'the network "n2" does not exist; write the name or ID of another',
    ],
    [
      "no subnet with the range",
      { nodes: "10.7.0.0/24" },
      'no subnet of the network "office" has the range of network.nodes (10.7.0.0/24): it has machines (10.0.0.0/24), others (10.9.0.0/24); write the range of one there',
    ],
    [
      "a subnet with another range",
      { subnet: "others" },
      'the subnet "others" has the range 10.9.0.0/24, not that of network.nodes (10.0.0.0/24); write 10.9.0.0/24 there',
    ],
    [
      "an unknown subnet",
      { subnet: "s9" },
      'the network "office" has no subnet "s9": it has machines (10.0.0.0/24), others (10.9.0.0/24); write the name or ID of one',
    ],
    [
      "a machine with the address of the gateway",
      { addresses: ["10.0.0.5", "10.0.0.254"] },
      '10.0.0.254 is the gateway of the subnet "machines", and no machine\'s address; write another one',
    ],
    [
      "an unknown router",
      { router: "r9" },
      'the router "r9" does not exist; write the name or ID of another',
    ],
    [
      "a router without an interface in the network",
      { router: "gateway" },
      'the router "gateway" has no interface in the network of the subnet "machines"; add one, or write the router that has one',
      { "openstack:networking/getRouter:getRouter": () => ({ ...unrouted, id: "r2" }) },
    ],
    [
      "a router to another external network",
      { router: "gateway" },
      'the router "gateway" leads to the external network e2, not to externalNetwork (external-network-id); write the one that it leads to',
      {
        "openstack:networking/getRouter:getRouter": () => ({
          ...unrouted,
          externalNetworkId: "e2",
        }),
      },
    ],
    [
      "a router without an external network",
      { router: "gateway" },
      'the router "gateway" leads to no external network; give it a gateway in externalNetwork (external-network-id)',
      { "openstack:networking/getRouter:getRouter": () => unrouted },
    ],
  ];
  for (const [what, network, sentence, changes] of refused)
    it(`refuses an invalid setting: ${what}`, async () => {
      await assert.rejects(look(network, changes), (error: Error) => {
        assert.ok(pulumi.RunError.isInstance(error));
        assert.equal(
          error.message,
          `[NOT_FOUND] This project of the cloud lacks what the cluster needs:\n  ${sentence}`,
        );
        return true;
      });
    });

  it("finds a subnet by ID, name or range, and a router to the external network", async () => {
    const found = { networkId: "n", subnetId: "s4", mtu: 1400 };
    for (const by of [{}, { subnet: "s4" }, { subnet: "machines" }])
      assert.deepEqual((await look(by)).network, found);
    const routed = { ...found, routerId: "r", routerAddresses: [{ ipAddress: "203.0.113.2" }] };
    assert.deepEqual((await look({ router: "gateway" })).network, routed);
    const several = refuse("More than one openstack_networking_port_v2 found (2)");
    const twice = { "openstack:networking/getPort:getPort": several };
    assert.deepEqual((await look({ router: "gateway" }, twice)).network, routed);
  });
});
