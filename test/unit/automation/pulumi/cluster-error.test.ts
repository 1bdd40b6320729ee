import assert from "node:assert/strict";
import { ClusterError, errorCodes } from "../../../../automation/pulumi/cluster-error.js";
import { buildProgram } from "../../../../automation/cli/main.js";

describe("an error of the cluster operations", () => {
  it("never ends a command with 0, nor with a code that the help does not explain", () => {
    let help = "";
    buildProgram()
      .configureOutput({ writeOut: (part) => (help += part) })
      .outputHelp();
    const explained = help.slice(help.indexOf("Exit codes:"));
    const exits = new Set(errorCodes.map((code) => new ClusterError(code, "x").exitCode));
    assert.ok(!exits.has(0));
    for (const code of exits) assert.match(explained, new RegExp(`(^|[\\s:;])${code} \\w`, "m"));
  });

  it("has sentence, hint and where", () => {
    const error = new ClusterError("NOT_READY", "It is late.", "Wait.", { resource: "web" });
    assert.deepEqual(
      [error.message, error.sentence, error.hint, error.subject],
      ["It is late.", "It is late.", "Wait.", { resource: "web" }],
    );
  });
});
