import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { buildProgram } from "../../../../automation/cli/main.js";
import { getPackageRoot } from "../../../../base/paths.js";
import { failureCodes, getFailureRow } from "../../../../base/failures/failure-codes.js";
import { tableOf } from "../../../support/commands/json-contract.js";

describe("docs/json.md", () => {
  it("has the result of every command", () => {
    const names = buildProgram().commands.map((command) => command.name());
    assert.deepEqual(
      tableOf("Command")
        .flatMap(({ keys }) => keys)
        .sort(),
      names.sort(),
    );
  });

  it("has every exit code", () => {
    const text = readFileSync(join(getPackageRoot(), "docs", "json.md"), "utf8");
    const said = [...text.matchAll(/^\| (\d+) +\|/gm)].map(([, code]) => Number(code));
    const codes = new Set([0, ...failureCodes.map((code) => getFailureRow(code).exitCode)]);
    assert.deepEqual(
      said,
      [...codes].sort((one, other) => one - other),
    );
  });
});
