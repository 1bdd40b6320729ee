import assert from "node:assert/strict";
import { findProvenRows, type TestOutcome } from "../../../evidence/proven-rows.js";

const file = "test/lab/all/lifecycle/restore.test.ts";
const test = (title: string, changes: Partial<TestOutcome> = {}): TestOutcome => ({
  file,
  title,
  passed: true,
  milliseconds: 1400,
  ...changes,
});
const first = "a cluster that is restored from a backup, on the lab";
const second = "a cluster that lost all etcd machines, on the lab";
const rowsOf = (last: TestOutcome, all: readonly TestOutcome[]): string[] =>
  findProvenRows(last, all).map(({ row }) => row);

describe("findProvenRows", () => {
  it("returns rows whose tests have all passed, with the total seconds", () => {
    const all = [test(`${first} comes back`), test(`${first} goes away`)];
    const [, last = test("")] = all;
    assert.deepEqual(findProvenRows(last, all), [
      { row: "backup/restore", test: file, seconds: 3 },
    ]);
  });

  it("omits rows with a test that failed, has not run or was filtered out", () => {
    const last = test(`${first} goes away`);
    const missing = test(`${first} comes back`, { passed: false, milliseconds: 0 });
    assert.deepEqual(rowsOf(last, [missing, last]), []);
    assert.deepEqual(rowsOf(last, [last, missing]), []);
  });

  it("ignores other clusters of the same file, and other files", () => {
    const last = test(`${first} goes away`);
    const other = test(`${second} comes back`, { passed: false });
    const elsewhere = test("five control planes", {
      file: "test/lab/all/control-planes/five.test.ts",
      passed: false,
    });
    assert.deepEqual(rowsOf(last, [last, other, elsewhere]), ["backup/restore"]);
  });

  it("returns the example as the test, not the file that runs all examples", () => {
    const title = "the example zones-and-routes, on the lab is created and verified";
    const last = test(title, { file: "test/examples/examples.test.ts" });
    const proven = findProvenRows(last, [last]);
    assert.deepEqual(
      proven.map(({ row, test: path }) => [row, path]),
      ["topology/zones", "pods/cloud-routes"].map((row) => [
        row,
        "test/examples/zones-and-routes.ts",
      ]),
    );
  });

  it("returns nothing for a test that no row names", () => {
    const last = test("anything", { file: "test/lab/all/downloads/mirror.test.ts" });
    assert.deepEqual(rowsOf(last, [last]), []);
  });
});
