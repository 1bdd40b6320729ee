import { strict as assert } from "node:assert";
import { Cluster } from "../../../components/cluster.js";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import { cloudAnswers } from "../../support/cloud/cloud-answers.js";
import { graph, type GraphOptions, type Row } from "../../support/graph/graph.js";
import { remembered } from "../../support/graph/memoize.js";
import { isSecret } from "../../support/graph/secrets.js";
import { renderSentScript } from "../../support/graph/sent.js";
import { smallest } from "../../support/config/spec.js";
import { value } from "../../support/graph/output-value.js";
import { nonEmpty } from "../../support/non-empty.js";

const args: ClusterArgs = {
  ...smallest,
  topology: "ha",
  zones: ["zone-a", "zone-b"],
  access: "bastion",
  bastion: { flavor: "tiny" },
};
const without = { access: "control-plane", bastion: undefined } as const;
interface Built {
  readonly rows: readonly Row[];
  readonly cluster: Cluster;
}
const build = remembered(
  async (over: Partial<ClusterArgs> = {}, options: GraphOptions = cloudAnswers): Promise<Built> => {
    let cluster: Cluster | undefined;
    const program = (): Cluster => (cluster = new Cluster("dev", { ...args, ...over }));
    const rows = await graph(program, options);
    assert.ok(cluster);
    return { rows, cluster };
  },
);
const bastionOf = async ({ separateMachines: { bastion } }: Cluster) =>
  bastion ? value(bastion) : [];
const named = (rows: readonly Row[], name: string): Row => {
  const found = rows.find((row) => row.name === name);
  assert.ok(found, name);
  return found;
};
const scripts = (rows: readonly Row[]): readonly Row[] =>
  rows.filter(({ type }) => type === "command:remote:Command");
const rules = (rows: readonly Row[]): string[] =>
  rows.filter(({ type }) => type.endsWith(":SecGroupRule")).map(({ name }) => name);
interface Hop {
  readonly host: unknown;
  readonly hostKey: unknown;
}
const connectionOf = ({ inputs: { connection } }: Row): Hop & { readonly proxy?: Hop } =>
  (isSecret(connection) ? (connection as { value: unknown }).value : connection) as Hop;

describe("the first control plane as a jump host", () => {
  it("receives its scripts before any other SSH connection", async () => {
    const { rows } = await build(without);
    const first = named(rows, "dev-control-plane-0-scripts");
    assert.equal(connectionOf(first).proxy, undefined);
    assert.ok(!first.dependencies.some((urn) => urn.includes("command:remote")));
    const rest = rows.filter((row) => row.type.startsWith("command:remote:") && row !== first);
    assert.ok(rest.length > 10);
    for (const { name, propertyDependencies } of rest)
      assert.ok(propertyDependencies["connection"]?.includes(first.urn), name);
    assert.deepEqual(first.hooks, ["examine-dev-control-plane-0-scripts"]);
  });
});

describe("a bastion", () => {
  let built: Built;
  before(async () => {
    built = await build();
  });

  it("is one machine in the machines' network without address pairs", () => {
    const { inputs } = named(built.rows, "dev-bastion-0-server");
    assert.equal(inputs["name"], "dev-bastion-0");
    assert.equal(inputs["flavorId"], "flavor-tiny");
    assert.equal(inputs["availabilityZone"], "zone-a");
    const port = named(built.rows, "dev-bastion-0-port").inputs;
    assert.deepEqual(port["securityGroupIds"], ["dev-firewall-bastion-id"]);
    assert.deepEqual(port["allowedAddressPairs"], []);
  });

  it("has the configured image, volume, tags and metadata", async () => {
    const { rows } = await build({
      bastion: {
        flavor: "tiny",
        image: "debian-12",
        rootVolume: { size: 8, type: "fast" },
        tags: ["way-in"],
        metadata: { owner: "me" },
      },
    });
    const volume = named(rows, "dev-bastion-0-root-volume").inputs;
    assert.deepEqual(
      [volume["name"], volume["size"], volume["volumeType"], volume["imageId"]],
      ["dev-bastion-0-root", 8, "fast", "image-id"],
    );
    const { imageId, blockDevices, tags, metadata } = named(rows, "dev-bastion-0-server").inputs;
    assert.equal(imageId, undefined);
    assert.equal((blockDevices as { uuid: string }[])[0]?.uuid, "dev-bastion-0-root-volume-id");
    assert.deepEqual(tags, ["way-in"]);
    assert.equal((metadata as Record<string, string>)["owner"], "me");
  });

  it("installs security updates if these are enabled", async () => {
    for (const securityUpdates of [true, false]) {
      const { rows } = await build({ securityUpdates });
      const script = renderSentScript(named(rows, "dev-bastion-0-prepare").inputs);
      assert.match(
        script,
        new RegExp(`^SECURITY_UPDATES='?${securityUpdates ? "yes" : "no"}`, "m"),
      );
      assert.match(script, /^ {2}security_updates$/m);
    }
  });

  it("has the only floating IP except the API's", () => {
    const addresses = built.rows.filter(({ type }) => type.endsWith(":FloatingIp"));
    assert.deepEqual(addresses.map(({ name, inputs }) => [name, inputs["portId"]]).sort(), [
      ["dev-bastion-access-floating-ip", "dev-bastion-0-port-id"],
      ["dev-endpoint-floating-ip", "dev-endpoint-port-id"],
    ]);
  });

  it("has a floating IP in addition to the first control plane's", async () => {
    const { rows } = await build({ topology: "one-control-plane" });
    assert.equal(
      named(rows, "dev-bastion-access-floating-ip").inputs["portId"],
      "dev-bastion-0-port-id",
    );
    assert.equal(
      named(rows, "dev-endpoint-floating-ip").inputs["portId"],
      "dev-control-plane-0-port-id",
    );
  });

  it("uses an existing floating IP, like a control plane that is the SSH entry", async () => {
    const ssh = { ...smallest.ssh, floatingIp: "203.0.113.9" };
    for (const [over, name, portId] of [
      [{}, "dev-bastion-access", "dev-bastion-0-port-id"],
      [without, "dev-access", "dev-control-plane-0-port-id"],
    ] as const) {
      const { rows, cluster } = await build({ ...over, ssh });
      const row = named(rows, `${name}-floating-ip-association`);
      assert.deepEqual(row.inputs, { floatingIp: ssh.floatingIp, portId });
      assert.ok(row.retainOnDelete);
      assert.ok(!rows.some((one) => one.name === `${name}-floating-ip`));
      const hosts = [...(await bastionOf(cluster)), ...(await value(cluster.nodes))];
      assert.ok(hosts.some((machine) => machine.sshHost === ssh.floatingIp));
    }
  });

  it("is the only SSH entry from outside, and reaches all other machines", () => {
    const ssh = rules(built.rows).filter((name) => /-(ssh|ssh-onward|join-token)-from-/.test(name));
    assert.deepEqual(
      ssh.filter((name) => name.endsWith("-v4")),
      [
        "dev-firewall-bastion-ssh-from-203.0.113.0-24-v4",
        "dev-firewall-control-plane-join-token-from-worker-v4",
        "dev-firewall-control-plane-ssh-onward-from-bastion-v4",
        "dev-firewall-control-plane-ssh-onward-from-control-plane-v4",
        "dev-firewall-worker-ssh-onward-from-bastion-v4",
      ],
    );
  });

  it("is the jump host for every machine after its own preparation", () => {
    const prepare = named(built.rows, "dev-bastion-0-prepare");
    assert.equal(connectionOf(prepare).host, "203.0.113.7");
    assert.equal(connectionOf(prepare).proxy, undefined);
    const copy = named(built.rows, "dev-bastion-0-scripts");
    assert.equal(connectionOf(copy).proxy, undefined);
    assert.ok(prepare.dependencies.includes(copy.urn));
    for (const row of scripts(built.rows).filter((one) => one !== prepare)) {
      assert.equal(connectionOf(row).proxy?.host, "203.0.113.7", row.name);
      assert.match(renderSentScript(row.inputs), /^SERVER_PATH='.*,dev-bastion-0'$/m);
      assert.ok(row.dependencies.includes(prepare.urn), row.name);
    }
  });

  it("has a separate host key that all connections through it pin", () => {
    const key = connectionOf(named(built.rows, "dev-bastion-0-prepare")).hostKey;
    assert.match(String(key), /^ssh-ed25519 AAAA/);
    for (const row of scripts(built.rows)) {
      const { hostKey, proxy } = connectionOf(row);
      assert.ok(proxy ? proxy.hostKey === key && hostKey !== key : hostKey === key, row.name);
    }
  });

  it("is an output of the cluster, whose nodes have no SSH address", async () => {
    const { cluster } = built;
    const [[bastion], nodes, keys] = [
      await bastionOf(cluster),
      await value(cluster.nodes),
      await value(cluster.hostKeys),
    ];
    assert.deepEqual([bastion?.name, bastion?.sshHost], ["dev-bastion-0", "203.0.113.7"]);
    assert.equal(nodes.length, 5);
    assert.ok(nodes.every(({ sshHost }) => sshHost === undefined));
    assert.ok(nodes.every(({ sshThrough }) => sshThrough === bastion?.name));
    assert.equal(bastion?.sshThrough, undefined);
    assert.ok([bastion, ...nodes].every((machine) => machine?.sshUser === "debian"));
    assert.match(keys.at(-1) ?? "", /^dev-bastion-0,10\.0\.0\.\d+,203\.0\.113\.7 ssh-ed25519 /);
    assert.deepEqual(await bastionOf((await build(without)).cluster), []);
  });

  it("registers the same resources in a preview", async () => {
    const keys = ({ rows }: Built): string[] => rows.map(({ urn }) => urn);
    assert.deepEqual(keys(await build({}, { ...cloudAnswers, preview: true })), keys(built));
  });

  describe("that is added to or removed from an existing cluster", () => {
    const keyOf = ({ type, inputs }: Row): string =>
      JSON.stringify([
        type,
        ...[
          ...["securityGroupId", "direction", "ethertype", "protocol", "portRangeMin"],
          ...["portRangeMax", "remoteGroupId", "remoteIpPrefix"],
        ].map((key) => inputs[key]),
      ]);

    it("keeps all servers and ports, and removes only the former entry's floating IP", async () => {
      const { rows } = await build(without);
      const kept = rows.filter(({ type }) => /:(Instance|Port|FloatingIp)$/.test(type));
      const gone: string[] = [];
      for (const { urn, name, inputs } of kept) {
        const now = built.rows.find((row) => row.urn === urn);
        if (now) assert.deepEqual(now.inputs, inputs, name);
        else gone.push(name);
      }
      assert.deepEqual(gone, ["dev-access-floating-ip"]);
    });

    it("keeps the URN of each unchanged security group rule", async () => {
      const { rows } = await build(without);
      const of = (some: readonly Row[]): readonly Row[] =>
        some.filter(({ type }) => type.endsWith(":SecGroupRule"));
      for (const [from, to] of [
        [rows, built.rows],
        [built.rows, rows],
      ] as const) {
        const before = new Map(of(from).map((row) => [keyOf(row), row.urn]));
        for (const row of nonEmpty(of(to)))
          assert.equal(before.get(keyOf(row)) ?? row.urn, row.urn, row.name);
      }
    });
  });
});
