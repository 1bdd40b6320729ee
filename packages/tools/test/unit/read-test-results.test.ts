import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readTestResults } from "../../read-test-results.js";
import { reporterLinePrefix } from "../../json-lines-reporter.js";

/** Starts a process that prints these lines and exits with this code. */
const printing = (lines: readonly string[], code = 0) =>
  spawn(
    process.execPath,
    [
      "-e",
      `process.stdout.write(${JSON.stringify(lines.map((line) => `${line}\n`).join(""))}); process.exitCode = ${code}`,
    ],
    { stdio: ["ignore", "pipe", "pipe"] },
  );
const said = (fields: Readonly<Record<string, unknown>>): string =>
  reporterLinePrefix + JSON.stringify(fields);
const end = said({ type: "end" });

describe("readTestResults", () => {
  it("counts each test", async () => {
    const begun: string[] = [];
    const lines = [
      said({ type: "begin", title: "a" }),
      said({ type: "pass", title: "a" }),
      "noise of a test",
      said({ type: "begin", title: "b" }),
      said({ type: "fail", title: "b", message: "1 !== 2" }),
      end,
    ];
    const result = await readTestResults("unit", printing(lines, 1), (title) => begun.push(title));
    assert.deepEqual(result, { passed: 1, failures: [{ title: "unit: b", message: "1 !== 2" }] });
    assert.deepEqual(begun, ["a", "b"]);
  });

  it("returns the results of an example's points", async () => {
    const seen = { example: "one", point: "all nodes are Ready", seen: "4 of 4" };
    const lines = [said({ type: "evidence", ...seen }), said({ type: "pass", title: "a" }), end];
    const result = await readTestResults("lab", printing(lines), () => undefined);
    assert.deepEqual(result, { passed: 1, failures: [], evidence: [seen] });
  });

  it("returns each file's duration", async () => {
    const times = [{ file: "a.test.ts", milliseconds: 1200 }];
    const lines = [said({ type: "pass", title: "a" }), said({ type: "file", ...times[0] }), end];
    const result = await readTestResults("lab", printing(lines), () => undefined);
    assert.deepEqual(result, { passed: 1, failures: [], times });
  });

  it("finds a result line after output without a final newline", async () => {
    const result = await readTestResults(
      "unit",
      printing([`dots...${said({ type: "pass" })}`, end]),
      () => undefined,
    );
    assert.equal(result.passed, 1);
  });

  it("reports a tier that dies early as failed, with the running test and the output", async () => {
    const lines = [said({ type: "begin", title: "the last one" }), "out of memory"];
    const { failures } = await readTestResults("lab", printing(lines, 7), () => undefined);
    assert.equal(failures.length, 1);
    assert.match(failures[0]?.message ?? "", /ended with 7 after 'the last one'\nout of memory/);
  });

  it("reports a tier that never started as failed", async () => {
    const { failures } = await readTestResults(
      "lab",
      printing(["SyntaxError"], 1),
      () => undefined,
    );
    assert.match(failures[0]?.message ?? "", /after no test\nSyntaxError/);
  });
});
