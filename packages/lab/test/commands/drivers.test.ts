import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { join } from "node:path";

const drivers = join("packages", "lab", "drivers");

/**
 * Runs a command in packages/lab/drivers. If a program is missing, throws an error with its name.
 */
function run(command: string, ...words: string[]): { status: number | null; output: string } {
  const done = spawnSync(command, words, { cwd: drivers, encoding: "utf8" });
  if (done.error) throw new Error(`${command} is needed: ${done.error.message}`);
  return { status: done.status, output: done.stdout + done.stderr };
}

describe("lab drivers", () => {
  it("pass their own unit tests", function () {
    this.timeout(180_000);
    const { status, output } = run(
      "python3",
      "-B",
      "-m",
      "unittest",
      "discover",
      "-s",
      "tests",
      "-t",
      ".",
    );
    assert.equal(status, 0, output);
    const count = Number(/Ran (\d+) tests/.exec(output)?.[1]);
    assert.ok(count >= 400, `expected at least 400 Python tests, found ${count}`);
    assert.doesNotMatch(output, /skipped=/);
  });

  it("have no test file that the run above leaves out", () => {
    const names = readdirSync(join(drivers, "tests")).filter((name) => name.endsWith(".py"));
    const helpers = ["__init__.py", "commands.py", "objects.py", "support.py"];
    const others = names.filter((name) => !name.startsWith("test_") && !helpers.includes(name));
    assert.deepEqual(others, []);
  });
});
