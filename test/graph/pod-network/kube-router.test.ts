import assert from "node:assert/strict";
import * as pulumi from "@pulumi/pulumi";
import type { ClusterComponentArgs } from "../../../components/cluster-arguments.js";
import { clusterRows } from "../../support/graph/cluster-rows.js";
import { type Row } from "../../support/graph/graph.js";
import { isSecret } from "../../support/graph/secrets.js";
import { renderSentScript } from "../../support/graph/sent.js";
import { smallest } from "../../support/config/spec.js";
import { named } from "../addons/addons-example.js";

const build = (podNetwork: ClusterComponentArgs["podNetwork"]): Promise<readonly Row[]> =>
  clusterRows({ ...smallest, podNetwork });
const clear = (value: unknown): string => JSON.stringify(value);
const scriptOf = (rows: readonly Row[], name: string): string =>
  renderSentScript(named(rows, name).inputs);
const peer = { address: "10.0.0.250", asn: 65001 };
const peers = "dev-addons-network-kube-router-peers";

describe("graph: kube-router's options", () => {
  it("keep the passwords of peers, text or output, in one Secret only", async () => {
    for (const password of ["of-a-peer", pulumi.secret("of-a-peer")]) {
      const rows = await build({ kind: "kube-router", peers: [{ ...peer, password }] });
      const encoded = Buffer.from("of-a-peer").toString("base64");
      const holders = rows.filter(
        (row) => /of-a-peer/.test(clear(row)) || clear(row).includes(encoded),
      );
      assert.deepEqual(
        holders.map(({ name }) => name),
        [peers],
      );
      const { stringData } = named(rows, peers).inputs;
      assert.ok(isSecret(stringData));
      const daemonSet = named(rows, "dev-addons-network-kube-router-daemon-set");
      assert.ok(daemonSet.dependencies.includes(named(rows, peers).urn));
      assert.ok(!Object.values(daemonSet.inputs).some(isSecret));
    }
  });

  it("create no Secret if no peer has a password", async () => {
    const rows = await build({ kind: "kube-router", peers: [peer] });
    assert.ok(!rows.some(({ name }) => name === peers));
    assert.ok(rows.some(({ name }) => name.endsWith("bgp-from-10.0.0.250-32-v4")));
  });

  it("disable kube-proxy in kubeadm and load the kernel modules of IPVS", async () => {
    const rows = await build({ kind: "kube-router", serviceProxy: true });
    const init = scriptOf(rows, "dev-control-plane-0-init");
    assert.match(init, /skipPhases:\n {2}- show-join-command\n {2}- addon\/kube-proxy\n/);
    assert.match(init, /\nproxy:\n {2}disabled: true\n/);
    // The script must not look for the configuration of a kube-proxy that does not exist.
    assert.match(init, /^KUBE_PROXY_CONFIGURATION=''$/m);
    for (const name of ["dev-control-plane-0-prepare", "dev-workers-general-0-prepare"])
      assert.match(scriptOf(rows, name), /^KERNEL_MODULES='ip_set xt_set ip_vs ip_vs_rr'$/m, name);
  });

  it("keep kube-proxy enabled by default", async () => {
    const init = scriptOf(await build("kube-router"), "dev-control-plane-0-init");
    assert.match(init, /skipPhases:\n {2}- show-join-command\n[^ ]/);
    assert.doesNotMatch(init, /disabled: true/);
  });
});
