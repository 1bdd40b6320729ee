import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { getPackageRoot } from "../../../../base/paths.js";
import { isSupportRow, supportRows } from "../../evidence/rows/rows.js";
import { listFilesWithSuffix } from "../../check.js";
import { nonEmpty } from "../../../../test/support/non-empty.js";

interface Listed {
  readonly file: string;
  readonly fullTitle: string;
}

/**
 * Tests without a row on the page: tests of the lab itself, and of refusals before anything is
 * created.
 */
const withoutRow = [
  "all/downloads/mirror",
  "all/load-balancing/rollout-under-load",
  "refusals",
  "teardown",
].map((name) => `test/lab/${name}.test.ts`);

describe("support rows", function () {
  this.timeout(60_000);
  const root = getPackageRoot();
  const mocha = join(root, "node_modules", "mocha", "bin", "mocha.js");
  const files = ["lab", "examples", "emulated"]
    .map((tier) => join(root, "test", tier))
    .flatMap((directory) =>
      existsSync(directory) ? listFilesWithSuffix(directory, ".test.ts") : [],
    );
  let tests: readonly Listed[];
  const proofs = Object.values(supportRows).flatMap((row) => row.proofs ?? []);
  before("have mocha list the tests", () => {
    const words = [mocha, "--dry-run", "--reporter", "json", ...files];
    const env = { ...process.env, STACKADM_TEST_ALL: "1" };
    const options = { cwd: root, env, encoding: "utf8", maxBuffer: 2 ** 24 } as const;
    const listed = JSON.parse(execFileSync(process.execPath, words, options)) as {
      tests: readonly Listed[];
    };
    tests = listed.tests.map(({ file, fullTitle }) => ({ file: relative(root, file), fullTitle }));
  });

  it("name existing tests by their titles", () => {
    for (const { file, title = "", link = file } of nonEmpty(proofs)) {
      const named = tests.filter((one) => one.file === file && one.fullTitle.includes(title));
      assert.notEqual(named.length, 0, `${file}: ${title}`);
      assert.ok(existsSync(join(root, link)), link);
    }
  });

  it("are recorded by a hook after each test only with STACKADM_EVIDENCE", () => {
    const directory = mkdtempSync(join(tmpdir(), "stackadm-hooks-"));
    const file = join(directory, "hooks.test.cjs");
    const text =
      'it("has", function () { console.log("hooks:", this.test.parent.getHooks("afterEach").length); });';
    writeFileSync(file, text);
    const hooks = (value: string): string => {
      const env = { ...process.env, STACKADM_EVIDENCE: value };
      const out = execFileSync(process.execPath, [mocha, file], {
        cwd: root,
        env,
        encoding: "utf8",
      });
      return /hooks: (.*)/.exec(out)?.[1] ?? out;
    };
    assert.deepEqual([hooks("1"), hooks("")], ["1", "0"]);
    rmSync(directory, { recursive: true });
  });

  it("cover every lab test and every example", () => {
    const shown = (test: Listed): boolean =>
      proofs.some(({ file, title = "" }) => test.file === file && test.fullTitle.includes(title));
    const left = tests.filter((test) => !shown(test)).map(({ file }) => file);
    assert.deepEqual([...new Set(left)].sort(), withoutRow);
  });

  it("are found by their own names only", () => {
    assert.ok(isSupportRow("topology/five"));
    for (const name of ["topology/none", "constructor"]) assert.ok(!isSupportRow(name));
  });
});
