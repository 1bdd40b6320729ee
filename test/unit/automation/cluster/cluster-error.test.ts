import assert from "node:assert/strict";
import {
  ClusterError,
  errorCodes,
  type ErrorCode,
} from "../../../../automation/cluster/cluster-error.js";
import { UserError } from "../../../../automation/user-error.js";
import { buildProgram } from "../../../../automation/cli/main.js";

const exitCode = (code: ErrorCode): number => new ClusterError(code, "x").exitCode;

describe("an error of the cluster operations", () => {
  const groups: [number, ErrorCode[]][] = [
    [2, ["INVALID_CONFIG", "CLOUD_NOT_CONFIGURED"]],
    [3, ["CLOUD_UNREACHABLE", "AUTH_FAILED", "FORBIDDEN", "PREFLIGHT_FAILED", "QUOTA_EXCEEDED"]],
    [4, ["STACK_LOCKED"]],
    [5, ["VERIFY_FAILED"]],
    [130, ["CANCELLED"]],
  ];
  for (const [code, names] of groups)
    it(`ends a command with ${code} for ${names.join(", ")} and for nothing else`, () => {
      assert.deepEqual(
        errorCodes.filter((name) => exitCode(name) === code),
        errorCodes.filter((name) => names.includes(name)),
      );
    });

  it("ends a command with 1 for everything else, never with 0", () => {
    const listed = groups.flatMap(([, names]) => names);
    for (const name of errorCodes.filter((one) => !listed.includes(one)))
      assert.equal(exitCode(name), 1, name);
  });

  it("ends with no code that the help does not explain", () => {
    let help = "";
    buildProgram()
      .configureOutput({ writeOut: (part) => (help += part) })
      .outputHelp();
    const explained = help.slice(help.indexOf("Exit codes:"));
    for (const code of new Set(errorCodes.map(exitCode)))
      assert.match(explained, new RegExp(`(^|[\\s:;])${code} \\w`, "m"));
  });

  it("is an error for people too, with sentence, hint and where", () => {
    const error = new ClusterError("NOT_READY", "It is late.", "Wait.", { resource: "web" });
    assert.ok(error instanceof UserError);
    assert.deepEqual(
      [error.message, error.sentence, error.hint, error.subject, error.name],
      ["It is late.", "It is late.", "Wait.", { resource: "web" }, "ClusterError"],
    );
  });
});
