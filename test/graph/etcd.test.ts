import { strict as assert } from "node:assert";
import type { ClusterArgs } from "../../components/cluster-spec.js";
import { clusterRows } from "../support/cluster-rows.js";
import { type Row } from "../support/graph.js";
import { plain } from "../support/secrets.js";
import { smallest } from "../support/spec.js";

const args: ClusterArgs = {
  ...smallest,
  topology: "ha",
  etcd: { kind: "dedicated", flavor: "medium" },
};
const ofType = (rows: readonly Row[], type: string): readonly Row[] =>
  rows.filter((row) => row.type.includes(type));
const named = (rows: readonly Row[], name: string): Row => {
  const found = rows.find((row) => row.name === name);
  assert.ok(found, name);
  return found;
};
const input = (rows: readonly Row[], name: string): string =>
  plain(named(rows, name).inputs["stdin"]);

describe("the graph with machines of etcd's own", () => {
  let rows: readonly Row[];
  before(async () => {
    rows = await clusterRows(args);
  });

  it("has three of them, in the group of their role only, for whom nobody else sends", () => {
    const ports = ofType(rows, "networking/port").filter(({ name }) => name.includes("-etcd-"));
    assert.deepEqual(
      ports.map(({ inputs }) => [inputs["name"], inputs["securityGroupIds"]]),
      [0, 1, 2].map((position) => [`dev-etcd-${String(position)}`, ["dev-firewall-etcd-id"]]),
    );
    for (const { inputs } of ports) assert.deepEqual(inputs["allowedAddressPairs"], []);
  });

  it("begins etcd on the first, which alone may, and lets each other join after the one before", () => {
    const begins = [0, 1, 2].map(
      (position) =>
        /^BEGINS='?(\w+)'?$/m.exec(input(rows, `dev-etcd-${String(position)}-member`))?.[1],
    );
    assert.deepEqual(begins, ["yes", "no", "no"]);
  });

  it("gives members the script that answers members, and the first control plane what it asks them with", () => {
    assert.match(input(rows, "dev-etcd-0-member"), /^sign_client\(\) \{$/m);
    const clients = ofType(rows, "command:remote").filter(({ name }) => name.endsWith("-client"));
    assert.deepEqual(
      clients.map(({ name }) => name),
      ["dev-control-plane-0-client"],
    );
    assert.equal(
      input(rows, "dev-control-plane-0-client").match(/ssh-ed25519 AAAA\S+$/gm)?.length,
      3,
    );
  });

  it("tells kubeadm every member's address, and leaves etcd out of a control plane's leave and images", () => {
    const init = input(rows, "dev-control-plane-0-init");
    assert.match(init, /etcd:\n {2}external:\n {4}endpoints:\n( {6}- https:\/\/\S+:2379\n){3}/);
    assert.match(input(rows, "dev-control-plane-1-leave"), /^LEAVES='?drain'?$/m);
    const images = /^KUBEADM_IMAGES=(.*)$/m.exec(input(rows, "dev-control-plane-0-prepare"))?.[1];
    assert.ok(images && !images.includes("etcd"), images);
    assert.match(input(rows, "dev-etcd-0-prepare"), /^KUBEADM_IMAGES=.*etcd\|pause/m);
    assert.match(input(rows, "dev-etcd-0-prepare"), /^EXTRA_IMAGES=('')?$/m);
  });

  it("is the same in a preview, where nothing is known", async () => {
    const preview = await clusterRows(args, { preview: true });
    assert.deepEqual(
      preview.map(({ urn }) => urn),
      rows.map(({ urn }) => urn),
    );
  });

  it("has nothing of it without: no machine, no group, no rule, no step", async () => {
    const { etcd, ...without } = args;
    assert.ok(etcd);
    const stacked = await clusterRows(without);
    assert.deepEqual(
      stacked
        .filter(({ name }) => /etcd-(?!from)|-etcd$|-client$/.test(name))
        .map(({ name }) => name),
      [],
    );
  });
});
