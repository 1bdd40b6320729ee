import { strict as assert } from "node:assert";
import { Cluster } from "../../../components/cluster.js";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import { lookUpCloud } from "../../../components/lookup/cloud-lookup.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import { graph, type Fields, type GraphOptions, type Row } from "../../support/graph/graph.js";
import { isSecret, plain } from "../../support/graph/secrets.js";
import { renderSentScript } from "../../support/graph/sent.js";
import { smallest } from "../../support/config/spec.js";
import { value } from "../../support/graph/output-value.js";

type Lookups = NonNullable<GraphOptions["lookups"]>;
const subnets: Readonly<Record<string, Fields>> = {
  ops: { id: "ops", name: "ops", cidr: "10.9.0.0/24", ipVersion: 4, gatewayIp: "10.9.0.1" },
  six: { id: "six", name: "six", cidr: "fd00::/64", ipVersion: 6, gatewayIp: "" },
  near: { id: "near", name: "near", cidr: "10.0.0.0/16", ipVersion: 4, gatewayIp: "" },
};
const networks: Readonly<Record<string, readonly string[]>> = {
  ops: ["ops", "six"],
  two: ["ops", "near"],
  six: ["six"],
};
const lookups: Lookups = {
  ...cloudAnswers.lookups,
  "openstack:networking/getNetwork:getNetwork": ({ name, external }) =>
    external === true
      ? { id: "external-network-id", name: "public" }
      : { id: `network-${String(name)}`, mtu: 1442, subnets: networks[String(name)] ?? [] },
  "openstack:networking/getSubnet:getSubnet": ({ subnetId }) => subnets[String(subnetId)] ?? {},
};
const outputs: GraphOptions["outputs"] = {
  ...cloudAnswers.outputs,
  "openstack:networking/port:Port": (inputs, name) => ({
    ...cloudAnswers.outputs?.["openstack:networking/port:Port"]?.(inputs, name),
    ...(name.endsWith("-admin-port") && {
      allFixedIps: ["10.9.0.5"],
      macAddress: "FA:16:3E:00:00:02",
    }),
  }),
};
const admin = { network: "ops", allowedCidrs: ["198.51.100.0/24"] };

let cluster: Cluster | undefined;
const build = (
  network: ClusterArgs["network"] = { admin },
  over: Partial<ClusterArgs> = {},
): Promise<readonly Row[]> =>
  graph(() => (cluster = new Cluster("dev", { ...smallest, ...over, network })), {
    ...cloudAnswers,
    lookups,
    outputs,
  });
const named = (rows: readonly Row[], name: string): Row["inputs"] => {
  const found = rows.find((row) => row.name === name);
  assert.ok(found, name);
  return found.inputs;
};

describe("an admin network", () => {
  let rows: readonly Row[];
  before(async () => {
    rows = await build({ admin }, { access: "bastion", bastion: { flavor: "tiny" } });
  });

  it("has a second port on each machine, after the first one", () => {
    const machines = ["control-plane-0", "workers-general-0", "workers-general-1", "bastion-0"];
    for (const one of machines) {
      const { networkId, fixedIps, securityGroupIds } = named(rows, `dev-${one}-admin-port`);
      assert.deepEqual(
        [networkId, fixedIps, securityGroupIds],
        ["network-ops", [{ subnetId: "ops" }], ["dev-firewall-admin-id"]],
      );
      assert.deepEqual(named(rows, `dev-${one}-server`)["networks"], [
        { port: `dev-${one}-port-id` },
        { port: `dev-${one}-admin-port-id` },
      ]);
    }
    assert.equal(rows.filter(({ name }) => name.endsWith("-admin-port")).length, machines.length);
  });

  it("allows only SSH and ICMP from the configured ranges", () => {
    assert.equal(named(rows, "dev-firewall-admin")["deleteDefaultRules"], true);
    assert.equal(named(rows, "dev-firewall-node")["deleteDefaultRules"], undefined);
    const rules = rows.filter(({ name }) => name.startsWith("dev-firewall-admin-"));
    assert.deepEqual(
      rules.map(({ inputs: { protocol, portRangeMax, remoteIpPrefix } }) => [
        ...[protocol, portRangeMax, remoteIpPrefix],
      ]),
      [
        ["icmp", undefined, "198.51.100.0/24"],
        ["tcp", 22, "198.51.100.0/24"],
      ],
    );
  });

  it("is configured by user data and checked by the preparation of machines", () => {
    const { userData } = named(rows, "dev-workers-general-0-server");
    assert.match(
      plain(userData),
      /- fa:16:3e:00:00:02\n\s+- 10\.9\.0\.5\/24\n\s+- 10\.9\.0\.0\/24\n/,
    );
    assert.match(
      renderSentScript(named(rows, "dev-workers-general-0-prepare")),
      /^ADMIN_ADDRESS='10\.9\.0\.5'$/m,
    );
  });

  it("has no address in the init and join scripts", () => {
    for (const name of ["dev-control-plane-0-init", "dev-workers-general-0-join"])
      assert.doesNotMatch(renderSentScript(named(rows, name)), /10\.9\.0\.5/);
  });

  it("is recorded in the immutable values by its IDs", () => {
    const kept = named(rows, "dev-frozen")["environment"] as Fields;
    assert.equal(kept["network.admin.network"], "network-ops");
    assert.equal(kept["network.admin.subnet"], "ops");
  });

  it("has a security group even if the machines' network has no port security", async () => {
    const open = await build({ admin, portSecurity: false });
    const groups = open.filter(({ type }) => type.endsWith(":SecGroup"));
    assert.deepEqual(
      groups.map(({ name }) => name),
      ["dev-firewall-admin"],
    );
    assert.equal(named(open, "dev-control-plane-0-port")["securityGroupIds"], undefined);
    assert.deepEqual(named(open, "dev-control-plane-0-admin-port")["securityGroupIds"], [
      "dev-firewall-admin-id",
    ]);
  });

  it("has the only SSH entries from outside with admin access", async () => {
    const inside = await build({ admin }, { access: "admin", topology: "ha" });
    const { connection } = named(inside, "dev-workers-general-0-prepare");
    const { host, proxy } = (
      isSecret(connection) ? (connection as Fields)["value"] : connection
    ) as Fields;
    assert.deepEqual([host, proxy], ["10.9.0.5", undefined]);
    const ssh = inside.filter(
      ({ inputs }) => inputs["portRangeMax"] === 22 && inputs["remoteIpPrefix"] !== undefined,
    );
    assert.deepEqual(
      ssh.map(({ inputs }) => inputs["securityGroupId"]),
      ["dev-firewall-admin-id"],
    );
    assert.ok(!inside.some(({ name }) => name.startsWith("dev-access")));
    assert.ok(cluster);
    const [first] = await value(cluster.nodes);
    assert.deepEqual([first?.adminAddress, first?.sshHost], ["10.9.0.5", "10.9.0.5"]);
  });

  const refused: readonly (readonly [string, object, string])[] = [
    [
      "several IPv4 subnets",
      { network: "two" },
      'the network "two" has not one IPv4 subnet: it has ops (10.9.0.0/24), near (10.0.0.0/16); write network.admin.subnet, or another network',
    ],
    [
      "no IPv4 subnet",
      { network: "six" },
      'the network "six" has not one IPv4 subnet: it has none; write network.admin.subnet, or another network',
    ],
    [
      "an unknown subnet",
      { subnet: "other" },
      'the network "ops" has no subnet "other": it has ops (10.9.0.0/24); write the name or ID of one',
    ],
    [
      "a subnet that overlaps the machines' network",
      { network: "two", subnet: "near" },
      'the subnet "near" of network.admin has the range 10.0.0.0/16, which overlaps network.nodes (10.0.0.0/24); write another one',
    ],
  ];
  for (const [what, over, sentence] of refused)
    it(`is refused with ${what}`, async () => {
      const apart = { nodes: "10.0.0.0/24", pods: "10.244.0.0/16" };
      const wanted = { images: ["i"], flavors: [], admin: { network: "ops", apart, ...over } };
      const look = graph(() => lookUpCloud(wanted), { ...cloudAnswers, lookups });
      await assert.rejects(look, (error: Error) => {
        assert.ok(error.message.endsWith(`needs:\n  ${sentence}`), error.message);
        return true;
      });
    });
});
