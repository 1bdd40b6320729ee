import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { buildProgram } from "../../../../automation/cli/main.js";
import { getPackageRoot } from "../../../../base/paths.js";
import { failureCodes, getFailureRow } from "../../../../base/failures/failure-codes.js";
import { listCommandResults } from "../../../support/commands/json-contract.js";

describe("docs/build/events.md", () => {
  it("has the result of every command", () => {
    const names = buildProgram().commands.map((command) => command.name());
    assert.deepEqual(
      listCommandResults()
        .map(({ name }) => name)
        .sort(),
      names.sort(),
    );
  });

  it("has every exit code", () => {
    const text = readFileSync(join(getPackageRoot(), "docs", "build", "events.md"), "utf8");
    const said = [...text.matchAll(/^\| (\d+) +\|/gm)].map(([, code]) => Number(code));
    const codes = new Set([0, ...failureCodes.map((code) => getFailureRow(code).exitCode)]);
    assert.deepEqual(
      said,
      [...codes].sort((one, other) => one - other),
    );
  });
});
