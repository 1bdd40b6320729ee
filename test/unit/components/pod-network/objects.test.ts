import assert from "node:assert/strict";
import { join } from "node:path";
import { describeGoldens, describeWorkloads } from "../../../support/kubernetes-objects.js";
import { objects, podSpecs } from "./objects.js";

describe("pod networks", () => {
  describeGoldens(join(__dirname, "golden"), objects);
  describeWorkloads(objects);

  for (const [workload, pod] of podSpecs()) {
    it(`${workload}: runs on every node at any time, ahead of other pods, in the node's network`, () => {
      assert.match(workload, /^DaemonSet /);
      assert.equal(pod.hostNetwork, true);
      assert.equal(pod.priorityClassName, "system-node-critical");
      // Also while a node is not ready, or the cloud controller has not seen it.
      assert.deepEqual(pod.tolerations, [{ operator: "Exists" }]);
    });
  }
});
