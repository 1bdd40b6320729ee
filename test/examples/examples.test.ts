import assert from "node:assert/strict";
import { exampleCluster } from "../support/config/examples.js";
import { externalAndInternalLb } from "./external-and-internal-lb.js";
import { haKubeRouter } from "./ha-kube-router.js";
import { oneControlPlane } from "./one-control-plane.js";
import { productionHa } from "./production-ha.js";
import { zonesAndRoutes } from "./zones-and-routes.js";
import { chosenExamples, evidence, onLab, type Example } from "./example.js";
import { Stack } from "../lab/support/stack/stack.js";

const minutes = 60_000;
const examples: readonly Example[] = [
  oneControlPlane,
  externalAndInternalLb,
  productionHa,
  haKubeRouter,
  zonesAndRoutes,
];

for (const { name, points, make } of chosenExamples(examples))
  describe(`the example ${name}, on the lab`, function () {
    this.timeout(20 * minutes);
    let stack: Stack;
    before(async () => {
      stack = make?.(name) ?? new Stack(name, await onLab(exampleCluster(name)));
      await stack.open();
    });
    after(async () => {
      await stack.cluster.close();
    });

    it("is created and verified", async () => {
      await stack.up();
      const { problem } = await stack.cluster.service.status(name);
      assert.equal(problem, undefined);
    });

    for (const point of points)
      it(point.text, async () => {
        evidence(name, point.text, await point.see(stack));
      });

    it("has no changes on a second `up`", async () => {
      await stack.again();
    });

    it("is destroyed without leftovers", async () => {
      await stack.destroyAndLookAround();
    });
  });
