import { strict as assert } from "node:assert";
import fc from "fast-check";
import { zoneAt } from "../../../../components/plan/cluster-plan.js";

describe("the zones of machines", () => {
  it("leaves the zone to Nova when none is named", () => {
    assert.equal(zoneAt([], 3), undefined);
  });

  it("spreads machines so that no zone has two more than another", () => {
    const zones = fc.uniqueArray(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(zones, fc.integer({ min: 1, max: 30 }), (names, count) => {
        const used = Array.from({ length: count }, (_, position) => zoneAt(names, position));
        const sizes = names.map((name) => used.filter((zone) => zone === name).length);
        assert.ok(Math.max(...sizes) - Math.min(...sizes) <= 1);
      }),
    );
  });
});
