import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { getPackageRoot } from "../../../../../base/paths.js";
import { nonEmpty } from "../../../../../test/support/non-empty.js";
import { longRuns, promiseSections } from "../../../documentation/reliability-promises.js";
import { reliabilityPage } from "../../../documentation/reliability-page.js";

const promises = nonEmpty(promiseSections.flatMap((section) => section.promises));

describe("reliability promises", () => {
  it("each have a test, and name only existing tests", () => {
    const paths = promises.map(({ tests }) => nonEmpty(tests)).flat();
    const missing = paths.filter(
      (test) => !existsSync(join(getPackageRoot(), "test", `${test}.test.ts`)),
    );
    assert.deepEqual(missing, []);
  });

  it("are each a sentence, and are in the table once", () => {
    const texts = promises.map(({ promise }) => promise);
    assert.deepEqual(
      texts.filter((text) => !/^[A-Z`].*\.$/.test(text)),
      [],
    );
    assert.equal(new Set(texts).size, texts.length);
  });
});

describe("reliabilityPage", () => {
  const lines = reliabilityPage().split("\n");

  it("has at most 150 lines, and a line for each promise", () => {
    assert.ok(lines.length <= 150, String(lines.length));
    const without = promises.filter(
      ({ promise }) => !lines.some((line) => line.startsWith(`- ${promise}`)),
    );
    assert.deepEqual(without, []);
  });

  it("shows the figure of the last long run for the promises that each run checks", () => {
    const { kept, runs } = longRuns.at(-1) ?? { kept: 0, runs: 0 };
    assert.ok(runs > 0);
    const figure = `**${kept} of ${runs}**.`;
    assert.equal(
      lines.filter((line) => line.startsWith("- ") && line.includes(figure)).length,
      promises.filter(({ inLongRun }) => inLongRun).length,
    );
    assert.ok(lines.some((line) => line.endsWith(`| ${runs - kept} |`)));
  });
});
