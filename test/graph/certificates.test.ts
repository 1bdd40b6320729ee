import { strict as assert } from "node:assert";
import { clusterRows } from "../support/cluster-rows.js";
import { plain } from "../support/secrets.js";
import { smallest } from "../support/spec.js";

describe("the certificates of control planes", () => {
  it("are looked after by each at a minute of its own", async () => {
    const rows = await clusterRows({
      ...smallest,
      controlPlane: { flavor: "medium", count: 5 },
    });
    const minutes = rows
      .map(({ inputs }) => /^RENEWAL_MINUTE='(.*)'$/m.exec(plain(inputs["stdin"] ?? ""))?.[1])
      .filter((minute) => minute !== undefined);
    assert.deepEqual(minutes.sort(), ["00", "12", "24", "36", "48"]);
  });
});
