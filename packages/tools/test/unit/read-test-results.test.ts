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

describe("a tier that runs", () => {
  it("is counted test by test", async () => {
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

  it("keeps what was seen of an example's points", async () => {
    const seen = { example: "one", point: "all nodes are Ready", seen: "4 of 4" };
    const lines = [said({ type: "evidence", ...seen }), said({ type: "pass", title: "a" }), end];
    const result = await readTestResults("lab", printing(lines), () => undefined);
    assert.deepEqual(result, { passed: 1, failures: [], evidence: [seen] });
  });

  it("says how long each file took", async () => {
    const times = [{ file: "a.test.ts", milliseconds: 1200 }];
    const lines = [said({ type: "pass", title: "a" }), said({ type: "file", ...times[0] }), end];
    const result = await readTestResults("lab", printing(lines), () => undefined);
    assert.deepEqual(result, { passed: 1, failures: [], times });
  });

  it("finds a line of ours behind output without a line's end", async () => {
    const result = await readTestResults(
      "unit",
      printing([`dots...${said({ type: "pass" })}`, end]),
      () => undefined,
    );
    assert.equal(result.passed, 1);
  });

  it("has failed when it dies before its end, with the test it died in and what it said", async () => {
    const lines = [said({ type: "begin", title: "the last one" }), "out of memory"];
    const { failures } = await readTestResults("lab", printing(lines, 7), () => undefined);
    assert.equal(failures.length, 1);
    assert.match(failures[0]?.message ?? "", /ended with 7 after 'the last one'\nout of memory/);
  });

  it("has failed when it never began", async () => {
    const { failures } = await readTestResults(
      "lab",
      printing(["SyntaxError"], 1),
      () => undefined,
    );
    assert.match(failures[0]?.message ?? "", /after no test\nSyntaxError/);
  });
});
