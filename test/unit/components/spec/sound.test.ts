import assert from "node:assert/strict";
import { parseClusterSpec } from "../../../../components/spec/cluster-spec.js";
import { soundOnes } from "../../../support/sound-ones.js";
import { smallest } from "../../../support/spec.js";

describe("what looks like a mistake and is none", () => {
  for (const over of soundOnes)
    it(`is taken: ${JSON.stringify(over).slice(0, 120)}`, () => {
      const result = parseClusterSpec({ ...smallest, ...over });
      assert.deepEqual("problems" in result ? result.problems : [], []);
    });
});
