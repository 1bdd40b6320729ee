import assert from "node:assert/strict";
import fc from "fast-check";
import { readScriptResult } from "../../../../components/remote-scripts/script-result.js";

const result = { node: "dev-general-0", kubernetes: "1.36.3" };
const json = JSON.stringify(result);

describe("readScriptResult", () => {
  it("returns the marked line, with any output of a login shell before and after it", () => {
    const greeting = fc
      .oneof(fc.string(), fc.constantFrom("Welcome to build-07\n", '{"node": "forged"}\n', "\r\n"))
      .filter((text) => !text.includes("@stackadm "));
    fc.assert(
      fc.property(greeting, greeting, fc.constantFrom("\n", "\r\n"), (before, after, end) => {
        const stdout = `${before}\n@stackadm ${json}${end}${after}`;
        assert.deepEqual(readScriptResult(stdout), result);
      }),
    );
  });

  it("returns the last of several marked lines", () => {
    const stdout = `@stackadm {"node": "first"}\n@stackadm ${json}\n`;
    assert.deepEqual(readScriptResult(stdout), result);
  });

  it("returns a result without a mark from the state of an earlier release", () => {
    for (const stdout of [json, `${json}\n`, `Welcome to build-07\n${json}`])
      assert.deepEqual(readScriptResult(stdout), result);
  });

  it("returns nothing for output without a result", () => {
    for (const stdout of ["", "Welcome\n", "@stackadm {\n", "[1]\n", '"text"\n', "@stackadm 7"])
      assert.equal(readScriptResult(stdout), undefined);
  });
});
