import { strict as assert } from "node:assert";
import {
  createPlaceholder,
  getPlaceholderPath,
  isPlaceholder,
  splitAtPlaceholders,
} from "../../../base/placeholders.js";

describe("a placeholder", () => {
  it("differs from every other placeholder, also for the same path", () => {
    assert.notEqual(createPlaceholder("image"), createPlaceholder("image"));
  });

  it("names the path of its value", () => {
    const placeholder = createPlaceholder("allowedCidrs.0");
    assert.ok(isPlaceholder(placeholder));
    assert.equal(getPlaceholderPath(placeholder), "allowedCidrs.0");
  });

  it("is found within a text", () => {
    const [one, other] = [createPlaceholder("a"), createPlaceholder("b")];
    assert.deepEqual(splitAtPlaceholders(`x${one},${other}`), ["x", one, ",", other, ""]);
    assert.ok(!isPlaceholder(`x${one}`));
    assert.ok(!isPlaceholder(`${one}${other}`));
  });

  it("is not a text of the same form that a user writes", () => {
    const written = createPlaceholder("image").replace(/output \S+/, "output 0b1c2d3e");
    assert.ok(!isPlaceholder(written));
    assert.deepEqual(splitAtPlaceholders(written), [written]);
  });
});
