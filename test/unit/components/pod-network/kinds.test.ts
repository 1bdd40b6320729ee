import assert from "node:assert/strict";
import { imageTable } from "../../../../base/images.js";
import { podNetworkKinds, podNetworks } from "../../../../components/pod-network/kinds.js";
import { containersOf } from "../../../support/kubernetes-objects.js";
import { objects, podSpecs } from "./objects.js";

describe("pod-network/kinds", () => {
  for (const kind of podNetworkKinds) {
    const traits = podNetworks[kind];

    it(`${kind}: names the images that its pods run, so that machines pull them early`, () => {
      const images = imageTable("1.36.3");
      const names = objects[kind].map(({ metadata }) => `DaemonSet ${metadata.name}`);
      const run = [...podSpecs()]
        .filter(([workload]) => names.includes(workload))
        .flatMap(([, pod]) => containersOf(pod).map(({ image }) => image));
      const early = traits.images.map((name) => images[name]);
      assert.deepEqual([...new Set(run)].sort(), early.sort());
    });

    it(`${kind}: has a passage for each way on which its packets enter a machine`, () => {
      // What the ports route has the pods' addresses; what is wrapped has the machines'.
      const from = traits.encapsulation === "none" ? "pods" : "machines";
      assert.ok(traits.passages.some((passage) => passage.from === from));
      assert.ok(traits.passages.every(({ reason }) => /^[A-Z]/.test(reason)));
    });

    it(`${kind}: says in the documentation whether it enforces network policies`, () => {
      assert.match(traits.summary, /network polic/);
      assert.doesNotMatch(traits.summary, /\.$/);
    });
  }
});
