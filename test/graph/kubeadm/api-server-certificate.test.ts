import { strict as assert } from "node:assert";
import { clusterRows } from "../../support/graph/cluster-rows.js";
import { renderSentScript } from "../../support/graph/sent.js";
import { smallest } from "../../support/config/spec.js";

describe("the certificate renewal of control planes", () => {
  it("runs at a different minute on each control plane", async () => {
    const rows = await clusterRows({
      ...smallest,
      controlPlane: { flavor: "medium", count: 5 },
    });
    const minutes = rows
      .filter(({ name }) => /-control-plane-\d-(init|join)$/.test(name))
      .map(({ inputs }) => /^RENEWAL_MINUTE='(.*)'$/m.exec(renderSentScript(inputs))?.[1]);
    assert.deepEqual(minutes.sort(), ["00", "12", "24", "36", "48"]);
  });
});
