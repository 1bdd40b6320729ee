import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { packageRoot } from "../../../base/paths.js";
import { Checkout } from "../tools/support/checkout.js";

const there = "exports.main = async () => process.stdout.write('there\\n');";

describe("the entry of an installed package", function () {
  this.timeout(60_000);
  let checkout: Checkout;
  const run = () => checkout.run("automation/cli/stackadm.mjs", []);
  beforeEach(() => {
    checkout = new Checkout();
    rmSync(join(checkout.root, "tools"), { recursive: true });
  });
  afterEach(() => {
    checkout.remove();
  });

  // One of the two is enough: a package may carry the compiler's settings, and a folder of that name.
  for (const missing of ["tools/checkout.mjs", "tsconfig.build.json"])
    it(`only runs what is there, without ${missing}`, async () => {
      if (missing === "tsconfig.build.json") {
        rmSync(join(checkout.root, missing));
        checkout.take("tools/checkout.mjs");
      }
      const { code, out, err } = await run();
      assert.deepEqual([code, out], [1, ""]);
      assert.match(err, /^error: \S+main\.js is missing: this package was not built\.\n$/);
      checkout.put("dist/automation/cli/main.js", there);
      assert.equal((await run()).out, "there\n");
      assert.deepEqual(checkout.calls(), []);
      assert.ok(!existsSync(join(checkout.root, "node_modules")));
    });
});

describe("the program's entry", function () {
  this.timeout(60_000);

  it("has at most thirty lines, exports a function and does nothing else", () => {
    const root = packageRoot();
    assert.ok(readFileSync(join(root, "index.ts"), "utf8").split("\n").length <= 31);
    const script = 'import program from "./index.js"; console.log(typeof program)';
    const words = ["--import", "tsx", "--input-type=module", "-e", script];
    const said = execFileSync("node", words, { cwd: root, encoding: "utf8" });
    assert.equal(said.trim(), "function");
  });
});

describe("the command line", function () {
  this.timeout(60_000);

  it("begins without Pulumi's SDK, which only the process of an operation needs: half a second of each command", () => {
    const script = [
      'require("./automation/cli/main.ts");',
      'const loaded = Object.keys(require.cache).filter((path) => path.includes("/@pulumi/"));',
      "console.log(JSON.stringify(loaded.slice(0, 3)));",
    ].join("\n");
    const words = ["--import", "tsx", "--input-type=commonjs", "-e", script];
    const said = execFileSync("node", words, { cwd: packageRoot(), encoding: "utf8" });
    assert.deepEqual(JSON.parse(said), []);
  });
});
