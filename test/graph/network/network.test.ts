import { strict as assert } from "node:assert";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import { clusterRows } from "../../support/graph/cluster-rows.js";
import { type Row } from "../../support/graph/graph.js";
import { smallest } from "../../support/config/spec.js";

const build = (network: ClusterArgs["network"], over: Partial<ClusterArgs> = {}) =>
  clusterRows({ ...smallest, ...over, network });
const ofType = (rows: readonly Row[], type: string): readonly Row[] =>
  rows.filter((row) => row.type.endsWith(type));

describe("the network of a cluster", () => {
  it("has the configured MTU or Neutron's default", async () => {
    const [asked] = ofType(await build({ mtu: 1400 }), "/network:Network");
    assert.equal(asked?.inputs["mtu"], 1400);
    const [usual] = ofType(await build({}), "/network:Network");
    assert.ok(usual && !("mtu" in usual.inputs));
  });

  it("has port security in each cloud, unless its ports have none", async () => {
    const over = { loadBalancer: { network: { externalNetwork: "public" } } };
    const enabled = async (network: ClusterArgs["network"]) =>
      ofType(await build(network, over), "/network:Network").map(({ name, inputs }) => [
        name,
        inputs["portSecurityEnabled"],
      ]);
    const services = ["dev-network-services-network", true];
    assert.deepEqual(await enabled({}), [["dev-network-network", true], services]);
    assert.deepEqual(await enabled({ portSecurity: false }), [
      ["dev-network-network", undefined],
      services,
    ]);
  });

  it("deletes subnets with their network, and router interfaces one by one", async () => {
    const rows = await build(
      { ipv6: { nodes: "fd00:10::/64" } },
      { loadBalancer: { network: { externalNetwork: "public" } } },
    );
    const goesWith = (type: string): unknown =>
      ofType(rows, type).map(({ name, deletedWith }) => [name, deletedWith.split("::").at(-1)]);
    assert.deepEqual(goesWith("/subnet:Subnet"), [
      ["dev-network-ipv6-subnet", "dev-network-network"],
      ["dev-network-services-subnet", "dev-network-services-network"],
      ["dev-network-subnet", "dev-network-network"],
    ]);
    // Neutron refuses to delete a network that still has a router interface.
    const interfaces = ofType(rows, ":RouterInterface");
    assert.deepEqual(
      interfaces.map(({ deletedWith }) => deletedWith),
      ["", "", ""],
    );
  });

  it("has no groups, rules and address pairs without port security", async () => {
    const rows = await build(
      { portSecurity: false },
      { topology: "ha", endpoint: { kind: "virtual-ip" } },
    );
    assert.deepEqual([...ofType(rows, ":SecGroup"), ...ofType(rows, ":SecGroupRule")], []);
    const ports = ofType(rows, ":Port").filter(({ name }) => !name.includes("endpoint"));
    assert.equal(ports.length, 5);
    for (const { inputs } of ports) {
      assert.equal(inputs["portSecurityEnabled"], false);
      assert.equal(inputs["noSecurityGroups"], true);
      assert.ok(!("allowedAddressPairs" in inputs) && !("securityGroupIds" in inputs));
    }
  });

  it("adds existing security groups to the ports of the configured machines", async () => {
    const written: Partial<ClusterArgs> = {
      controlPlane: { flavor: "medium", securityGroups: ["monitored"] },
      workers: { general: { flavor: "medium", count: 1, securityGroups: ["office", "web"] } },
      access: "bastion",
      bastion: { flavor: "tiny", securityGroups: ["vpn"] },
    };
    const rows = await build({ securityGroups: ["office"] }, written);
    const own = (role: string): string => `dev-firewall-${role}-id`;
    const groups = (name: string): unknown =>
      rows.find((row) => row.name === name)?.inputs["securityGroupIds"];
    assert.deepEqual(groups("dev-control-plane-0-port"), [
      ...[own("node"), own("control-plane"), "group-office", "group-monitored"],
    ]);
    assert.deepEqual(groups("dev-workers-general-0-port"), [
      ...[own("node"), own("worker"), "group-office", "group-web"],
    ]);
    assert.deepEqual(groups("dev-bastion-0-port"), [own("bastion"), "group-office", "group-vpn"]);
    assert.equal(ofType(rows, ":SecGroup").length, 4);
  });

  it("excludes the fixed addresses of machines from the allocation pools", async () => {
    const at = (address: string) => ({ flavor: "medium", nodes: { "0": { address } } });
    const rows = await build(
      {},
      {
        controlPlane: at("10.0.0.5"),
        workers: { general: { ...at("10.0.0.254"), count: 2 } },
      },
    );
    const [subnet] = ofType(rows, "/subnet:Subnet");
    assert.deepEqual(subnet?.inputs["allocationPools"], [
      { start: "10.0.0.2", end: "10.0.0.4" },
      { start: "10.0.0.6", end: "10.0.0.253" },
    ]);
    const fixed = (name: string): unknown =>
      rows.find((row) => row.name === name)?.inputs["fixedIps"];
    const subnetId = "dev-network-subnet-id";
    assert.deepEqual(
      ["control-plane-0", "workers-general-0", "workers-general-1"].map((one) =>
        fixed(`dev-${one}-port`),
      ),
      [
        [{ subnetId, ipAddress: "10.0.0.5" }],
        [{ subnetId, ipAddress: "10.0.0.254" }],
        [{ subnetId }],
      ],
    );
    const [usual] = ofType(await build({}), "/subnet:Subnet");
    assert.ok(usual && !("allocationPools" in usual.inputs));
  });
});
