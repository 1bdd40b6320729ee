import assert from "node:assert/strict";
import { Failure } from "../../../../../base/failures/failure.js";
import { failureCodes } from "../../../../../base/failures/failure-codes.js";
import { formatFailure } from "../../../../../base/terminal/session.js";
import { nonEmpty } from "../../../../../test/support/non-empty.js";
import { failuresPage } from "../../../documentation/failure-page.js";
import { anchorOf } from "../../../documentation/markdown.js";

describe("failuresPage", () => {
  it("has the section to which the command line links, for every code", () => {
    const headings = failuresPage()
      .split("\n")
      .filter((line) => line.startsWith("## "))
      .map((line) => `docs/reference/failures.md#${anchorOf(line.slice(3))}`);
    const linked = failureCodes.flatMap((code) => {
      const failure = new Failure(code, "sentence", "hint");
      const [, , line] = formatFailure(failure, failure, {}).split("\n");
      return line === undefined ? [] : [line.split(": ")[1] ?? ""];
    });
    assert.deepEqual(
      nonEmpty(linked).filter((link) => !headings.includes(link)),
      [],
    );
    assert.equal(new Set(headings).size, failureCodes.length);
    assert.equal(linked.length, failureCodes.length - 2);
  });
});
