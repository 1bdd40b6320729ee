import assert from "node:assert/strict";
import { upgradedCluster } from "../../../../documentation/pictures/picture-clusters.js";
import { specOf } from "../../../../documentation/pictures/registered-cluster.js";
import { drawUpgrade } from "../../../../documentation/pictures/upgrade-picture.js";
import {
  findUpgradeSteps,
  type UpgradedResource,
} from "../../../../documentation/pictures/upgrade-steps.js";
import { findLayoutProblems, isCurrent, listShown } from "../../../support/picture-checks.js";

describe("the steps of an upgrade", () => {
  let steps: readonly UpgradedResource[];
  before(async () => {
    steps = await findUpgradeSteps(upgradedCluster);
  });
  const namesIn = (step: number): string[] =>
    steps
      .filter((one) => one.step === step)
      .map(({ name }) => name.replace(/^prod-(workers-)?/, ""))
      .sort();

  it("are one machine after another, after all machines have their packages and images", () => {
    const machines = ["control-plane-0", "control-plane-1", "control-plane-2"];
    const workers = ["general-0", "general-1", "gpu-0"];
    assert.deepEqual(
      namesIn(0),
      [...machines, ...workers].map((name) => `${name}-prepare`),
    );
    assert.deepEqual(
      [1, 2, 3, 5, 6].map((step) => namesIn(step)),
      [
        ["control-plane-0-init"],
        ["control-plane-1-join"],
        ["control-plane-2-join"],
        ["general-1-join"],
        ["gpu-0-join"],
      ],
    );
  });

  it("update the add-ons after the control planes, together with the first worker", () => {
    assert.deepEqual(namesIn(4), [
      "addons-cloud-controller-daemon-set",
      "addons-storage-controller",
      "addons-storage-node",
      "general-0-join",
    ]);
  });

  it("are all in the current picture, without overlaps", () => {
    const picture = drawUpgrade(
      "Order of an upgrade of Kubernetes",
      specOf(upgradedCluster),
      steps,
    );
    assert.deepEqual(listShown(picture).toSorted(), steps.map(({ name }) => name).sort());
    assert.deepEqual(findLayoutProblems(picture), []);
    assert.ok(isCurrent("upgrade.svg", picture), "run npm run docs");
  });
});
