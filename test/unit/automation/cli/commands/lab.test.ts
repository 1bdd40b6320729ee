import assert from "node:assert/strict";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Operator } from "../../../../support/commands/test-user.js";

// Uses a stub of the lab that records its calls. packages/lab/test and test/lab test the lab itself.
describe("`stackadm lab`", function () {
  this.timeout(120_000);
  let operator: Operator;
  beforeEach(() => {
    operator = new Operator();
  });
  afterEach(() => {
    operator.remove();
  });
  const calls = (): string[] => {
    const file = join(operator.engine.directory, "lab-calls");
    return existsSync(file)
      ? readFileSync(file, "utf8")
          .split("\n")
          .filter(Boolean)
          .map((line) => line.trim())
      : [];
  };

  it("passes all arguments to the command line of the lab, with its exit code", async () => {
    const { code, out, err } = await operator.run("lab", "up", "--kubernetes", "1.36.3");
    assert.deepEqual([code, out, err], [0, "", ""]);
    assert.equal((await operator.run("lab", "broken")).code, 7);
    assert.equal((await operator.run("lab", "--help")).code, 0);
    assert.equal((await operator.run("--json", "lab", "status")).code, 0);
    assert.equal((await operator.run("lab", "status", "--json")).code, 0);
    assert.deepEqual(calls(), [
      ...["up --kubernetes 1.36.3", "broken", "--help"],
      ...["status --json", "status --json"],
    ]);
  });

  it("is what `stackadm dev` starts when no cloud is named", async () => {
    const { code, err } = await operator.run("dev");
    assert.deepEqual(calls(), ["labUp"]);
    // The stub creates no clouds.yaml, so that no cloud is configured.
    assert.equal(code, 2);
    assert.match(err, /error: No cloud is configured/);
  });
});
