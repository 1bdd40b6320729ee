import { strict as assert } from "node:assert";
import type { ClusterArgs } from "../../../components/config/cluster-spec.js";
import { clusterRows } from "../../support/graph/cluster-rows.js";
import { type Row } from "../../support/graph/graph.js";
import { isSecret, plain } from "../../support/graph/secrets.js";
import { renderSentScript } from "../../support/graph/sent.js";
import { smallest } from "../../support/config/spec.js";

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
  renderSentScript(named(rows, name).inputs);

describe("the graph with separate etcd machines", () => {
  let rows: readonly Row[];
  before(async () => {
    rows = await clusterRows(args);
  });

  it("has three etcd machines in their own security group without address pairs", () => {
    const ports = ofType(rows, "networking/port").filter(({ name }) => name.includes("-etcd-"));
    assert.deepEqual(
      ports.map(({ inputs }) => [inputs["name"], inputs["securityGroupIds"]]),
      [0, 1, 2].map((position) => [`dev-etcd-${String(position)}`, ["dev-firewall-etcd-id"]]),
    );
    for (const { inputs } of ports) assert.deepEqual(inputs["allowedAddressPairs"], []);
  });

  it("starts a new etcd cluster only on the first machine", () => {
    const begins = [0, 1, 2].map(
      (position) =>
        /^BEGINS='?(\w+)'?$/m.exec(input(rows, `dev-etcd-${String(position)}-member`))?.[1],
    );
    assert.deepEqual(begins, ["yes", "no", "no"]);
  });

  it("gives members the signing function and the first control plane a client script", () => {
    assert.match(input(rows, "dev-etcd-0-member"), /^sign_client\(\) \{$/m);
    const clients = ofType(rows, "command:remote:Command").filter(({ name }) =>
      name.endsWith("-client"),
    );
    assert.deepEqual(
      clients.map(({ name }) => name),
      ["dev-control-plane-0-client"],
    );
    assert.equal(
      input(rows, "dev-control-plane-0-client").match(/ssh-ed25519 AAAA\S+$/gm)?.length,
      3,
    );
  });

  it("marks standard inputs with keys as secrets", () => {
    const scripts = ofType(rows, "command:remote:Command").filter(({ name }) =>
      /-(member|client|init|join)$/.test(name),
    );
    assert.ok(scripts.length >= 8, String(scripts.length));
    for (const { name, inputs } of scripts) assert.ok(isSecret(inputs["stdin"]), name);
  });

  it("configures external etcd in kubeadm, and removes etcd from control plane scripts", () => {
    const init = input(rows, "dev-control-plane-0-init");
    assert.match(init, /etcd:\n {2}external:\n {4}endpoints:\n( {6}- https:\/\/\S+:2379\n){3}/);
    assert.match(input(rows, "dev-control-plane-1-leave"), /^LEAVES='?drain'?$/m);
    const images = /^KUBEADM_IMAGES=(.*)$/m.exec(input(rows, "dev-control-plane-0-prepare"))?.[1];
    assert.ok(images && !images.includes("etcd"), images);
    assert.match(input(rows, "dev-etcd-0-prepare"), /^KUBEADM_IMAGES=.*etcd\|pause/m);
    assert.match(input(rows, "dev-etcd-0-prepare"), /^EXTRA_IMAGES=('')?$/m);
  });

  it("applies images, zones, volumes, tags, cloud-init and steps to etcd machines", async () => {
    const steps = { beforeKubeadm: "touch /before", afterKubeadm: "touch /after" };
    const chosen = await clusterRows({
      ...args,
      etcd: {
        kind: "dedicated",
        flavor: "medium",
        zones: ["zone-c"],
        tags: ["store"],
        metadata: { owner: "me" },
        cloudInit: ["#!/bin/sh\ntrue\n"],
        steps,
        rootVolume: { size: 20 },
        etcdVolume: { size: 5 },
        nodes: { 1: { etcdVolume: { size: 9, type: "fast" }, address: "10.0.0.99" } },
      },
    });
    const server = named(chosen, "dev-etcd-0-server").inputs;
    assert.equal(server["availabilityZone"], "zone-c");
    assert.deepEqual(server["tags"], ["store"]);
    assert.equal((server["metadata"] as Record<string, string>)["owner"], "me");
    assert.match(plain(server["userData"]), /#!\/bin\/sh\ntrue\n/);
    assert.deepEqual(
      (server["blockDevices"] as { uuid: string }[]).map(({ uuid }) => uuid),
      ["dev-etcd-0-root-volume-id", "dev-etcd-0-etcd-volume-id"],
    );
    const volume = (position: number) => named(chosen, `dev-etcd-${String(position)}-etcd-volume`);
    assert.deepEqual(
      [0, 1, 2].map((position) => volume(position).inputs["size"]),
      [5, 9, 5],
    );
    const port = named(chosen, "dev-etcd-1-port").inputs["fixedIps"] as { ipAddress: string }[];
    assert.equal(port[0]?.ipAddress, "10.0.0.99");
    const prepare = input(chosen, "dev-etcd-0-prepare");
    assert.match(prepare, /^etcd dev-etcd-0-etcd-volume-id \/var\/lib\/etcd 0700 kubelet'$/m);
    assert.match(prepare, /^BEFORE_KUBEADM='touch \/before'$/m);
    assert.match(input(chosen, "dev-etcd-0-member"), /^AFTER_KUBEADM='touch \/after'$/m);
  });

  it("registers the same resources in a preview", async () => {
    const preview = await clusterRows(args, { preview: true });
    assert.deepEqual(
      preview.map(({ urn }) => urn),
      rows.map(({ urn }) => urn),
    );
  });

  it("has no resources for etcd machines with stacked etcd", async () => {
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
