import { strict as assert } from "node:assert";
import type { ClusterComponentArgs } from "../../../components/cluster-arguments.js";
import { clusterRows } from "../../support/graph/cluster-rows.js";
import { type Row } from "../../support/graph/graph.js";
import { renderSentScript } from "../../support/graph/sent.js";
import { smallest } from "../../support/config/spec.js";
import { named, shape } from "../addons/addons-example.js";

const build = (kubernetes: ClusterComponentArgs["kubernetes"] = {}) =>
  clusterRows({
    ...smallest,
    topology: "ha",
    controlPlane: { flavor: "medium" },
    kubernetes,
  });

const scriptOf = (rows: readonly Row[], name: string): string =>
  renderSentScript(named(rows, name).inputs);
const patched = {
  patches: { "kube-scheduler": [{ patch: { metadata: { annotations: { a: "b" } } } }] },
};

describe("graph: kubeadm patches", () => {
  it("are passed to kubeadm init and join on every control plane", async () => {
    const rows = await build(patched);
    for (const name of ["0-init", "1-join", "2-join"]) {
      const script = scriptOf(rows, `dev-control-plane-${name}`);
      assert.match(script, /^PATCHES='kube-scheduler0000\+strategic\.json \S+'$/m, name);
      const named = [...script.matchAll(/^patches:\n {2}directory: (\S+)$/gm)];
      assert.equal(named.length, name === "0-init" ? 2 : 1, name);
    }
    assert.deepEqual(shape(rows), shape(await build()), "there is no resource for them");
  });

  it("are absent by default and on workers", async () => {
    const rows = await build();
    const script = scriptOf(rows, "dev-control-plane-0-init");
    assert.match(script, /^PATCHES=''$/m);
    assert.doesNotMatch(script, /^patches:/m);
    assert.doesNotMatch(scriptOf(rows, "dev-workers-general-0-join"), /PATCHES/);
  });
});
