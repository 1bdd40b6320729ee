import assert from "node:assert/strict";
import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { buildProgram } from "../../../automation/cli/main.js";
import { packageRoot } from "../../../automation/cluster/workspace.js";
import { run } from "../../../automation/run.js";

const runner = async (...args: string[]) => {
  const { PATH, HOME } = process.env;
  const file = join(packageRoot(), "test", "run.ts");
  const options = { cwd: packageRoot(), env: { PATH, HOME }, accept: [0, 1] };
  return run(process.execPath, ["--import", "tsx", file, ...args], options);
};

describe("the runner of the tests", function () {
  this.timeout(60_000);

  it("fails for a tier that does not exist, and names those that do", async () => {
    const { code, stdout, stderr } = await runner("unit", "nothing");
    assert.equal(code, 1);
    assert.equal(stdout, "0 passed, 1 failed\n");
    assert.match(
      stderr,
      /^error: There is no tier 'nothing'\. There are: unit, graph, [a-z, ]+\.$/m,
    );
    assert.doesNotMatch(stderr, /Tests: unit/, "nothing runs when one name is wrong");
  });

  it("has exactly the tiers that the help of `stackadm test` names", async () => {
    const command = buildProgram().commands.find((one) => one.name() === "test");
    const named = command?.registeredArguments[0]?.description.split(", ") ?? [];
    const { stderr } = await runner("nothing");
    const [, listed = ""] = /There are: ([^.]+)\./.exec(stderr) ?? [];
    assert.deepEqual(named, listed.split(", "));
    for (const tier of named) assert.ok(existsSync(join(packageRoot(), "test", tier)), tier);
  });

  it("runs every folder of tests: none lies beside the tiers unseen", async () => {
    const { stderr } = await runner("nothing");
    const folders = readdirSync(join(packageRoot(), "test"), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .filter(({ name }) =>
        readdirSync(join(packageRoot(), "test", name), { recursive: true }).some((file) =>
          String(file).endsWith(".test.ts"),
        ),
      );
    for (const { name } of folders) assert.ok(stderr.includes(name), name);
  });
});
