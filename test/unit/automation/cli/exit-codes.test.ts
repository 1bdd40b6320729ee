import assert from "node:assert/strict";
import { failureCodes, getFailureRow } from "../../../../base/failures/failure-codes.js";
import { buildProgram } from "../../../../automation/cli/main.js";

describe("exit codes", () => {
  it("are explained in the help", () => {
    let help = "";
    buildProgram()
      .configureOutput({ writeOut: (part) => (help += part) })
      .outputHelp();
    const explained = help.slice(help.indexOf("Exit codes:"));
    const exits = new Set(failureCodes.map((code) => getFailureRow(code).exitCode));
    assert.ok(exits.size > 3, [...exits].join());
    for (const code of exits) assert.match(explained, new RegExp(`(^|[\\s:;])${code} \\w`, "m"));
  });
});
