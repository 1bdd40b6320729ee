import assert from "node:assert/strict";
import fc from "fast-check";
import { estimateTextWidth, wrapWords } from "../../../../documentation/pictures/text-width.js";

describe("estimateTextWidth", () => {
  it("grows with the size, the weight and the width of the letters", () => {
    assert.equal(estimateTextWidth("aa", 10), 12);
    assert.ok(estimateTextWidth("aa", 10, true) > 12);
    assert.ok(estimateTextWidth("mm", 10) > estimateTextWidth("ii", 10));
  });
});

describe("wrapWords", () => {
  const format = { size: 10, separator: ", " };

  it("keeps all words in order, in lines that fit if each word fits", () => {
    const words = fc.array(fc.stringMatching(/^[a-z]{1,8}$/), { minLength: 1 });
    fc.assert(
      fc.property(words, fc.integer({ min: 80, max: 300 }), (all, width) => {
        const lines = wrapWords(all, width, format);
        assert.deepEqual(lines.join(", ").split(", "), all);
        assert.deepEqual(
          lines.filter((line) => estimateTextWidth(line, 10) > width),
          [],
        );
      }),
    );
  });

  it("uses one line if all words fit", () => {
    assert.deepEqual(wrapWords(["22", "6443"], 100, format), ["22, 6443"]);
  });
});
