import { strict as assert } from "node:assert";
import { renderLabelsAndTaints } from "../../../../components/kubeadm/labels-and-taints.js";

const none = { labels: {}, taints: [] };

describe("renderLabelsAndTaints", () => {
  it("returns nothing if no group has labels or taints", () => {
    assert.equal(renderLabelsAndTaints([{ name: "dev-control-plane", ...none }]), "");
  });

  it("returns a line for each group with labels or taints, independent of the written order", () => {
    const gpu = { key: "example.org/gpu", value: "a100", effect: "NoSchedule" };
    const batch = { key: "batch", value: "", effect: "NoExecute" };
    const rows = renderLabelsAndTaints([
      { name: "dev-control-plane", ...none },
      { name: "dev-gpu", labels: { b: "2", a: "" }, taints: [gpu, batch] },
      { name: "dev-edge", labels: { "example.org/edge": "yes" }, taints: [] },
    ]);
    assert.equal(
      rows,
      "dev-gpu a=,b=2 batch=:NoExecute,example.org/gpu=a100:NoSchedule\ndev-edge example.org/edge=yes -",
    );
  });
});
