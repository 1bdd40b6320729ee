import assert from "node:assert/strict";
import { join } from "node:path";
import { describeGoldens, describeWorkloads } from "../../../support/kubernetes-objects.js";
import { joinScripts } from "../../../../components/kubeadm/node-scripts.js";
import { apiByNameLabel } from "../../../../components/kubernetes-objects/pod-settings.js";
import { apiName, objects, podSpecs } from "./objects.js";
import { nonEmpty } from "../../../support/non-empty.js";

describe("pod networks", () => {
  describeGoldens(join(__dirname, "golden"), objects);
  describeWorkloads(objects);

  for (const [workload, pod] of podSpecs()) {
    it(`${workload}: runs on every node at any time with system priority in the host network`, () => {
      assert.match(workload, /^DaemonSet /);
      assert.equal(pod.hostNetwork, true);
      assert.equal(pod.priorityClassName, "system-node-critical");
      // Also while a node is not ready, or the cloud controller manager has not initialized it.
      assert.deepEqual(pod.tolerations, [{ operator: "Exists" }]);
    });

    it(`${workload}: connects to the API without kube-proxy`, () => {
      for (const { env = [] } of nonEmpty(pod.containers))
        assert.deepEqual(
          env.filter((one) => one.name.startsWith("KUBERNETES_")),
          [
            { name: "KUBERNETES_SERVICE_HOST", value: apiName },
            { name: "KUBERNETES_SERVICE_PORT", value: "6443" },
          ],
        );
    });
  }

  it("have the label by which a machine's script restarts them after a change of the API's address", () => {
    const [, key = "", value] = /--label (\S+)=([^\s)]+)/.exec(joinScripts.join("\n")) ?? [];
    assert.deepEqual(apiByNameLabel, { [key]: value });
    const pods = Object.values(objects)
      .flat()
      .filter(({ kind }) => kind === "DaemonSet")
      .map((object) => JSON.stringify(object));
    assert.ok(
      pods.length > 1 && pods.every((text) => text.includes(`"${key}":"${String(value)}"`)),
    );
  });
});
