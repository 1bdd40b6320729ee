import assert from "node:assert/strict";
import { parseClusterSpec } from "../../../../components/config/cluster-spec.js";
import { unusualValidValues } from "../../../support/config/valid-values.js";
import { smallest } from "../../../support/config/spec.js";

describe("unusual but valid settings", () => {
  for (const over of unusualValidValues)
    it(`are accepted: ${JSON.stringify(over).slice(0, 120)}`, () => {
      const result = parseClusterSpec({ ...smallest, ...over });
      assert.deepEqual("problems" in result ? result.problems : [], []);
    });
});
