import assert from "node:assert/strict";
import { kubectlOn } from "../support/kubernetes/kubectl.js";
import { changes } from "../support/stack/lab-cluster.js";
import { Stack } from "../support/stack/stack.js";

const minutes = 60_000;

describe("a single-machine cluster, on the lab", function () {
  this.timeout(10 * minutes);
  const stack = new Stack("single");
  const changed = { topology: "single", workers: {} };
  before(async () => {
    await stack.open();
  });
  after(async () => {
    await stack.cluster.close();
  });

  // `up` itself verifies that the load balancers answer and that the volume returns the written
  // data.
  it("runs pods and serves load balancers on its only machine", async () => {
    await stack.up(changed);
    await stack.prove(1);
    assert.equal(stack.outputs.nodes.length, 1);
    assert.ok(stack.outputs.samples);
    const server = stack.serverOf("control-plane-0");
    const taints = await kubectlOn(server, "get nodes -o jsonpath='{.items[*].spec.taints}'");
    assert.equal(taints.trim(), "");
  });

  it("has no changes on a second `up`", async () => {
    await stack.up(changed);
    assert.deepEqual(changes(stack.cluster.seen.events), {});
  });

  it("is destroyed without leftovers", async () => {
    await stack.destroyAndLookAround();
  });
});
