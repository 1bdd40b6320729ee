import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import { getPackageRoot } from "../../../../base/paths.js";
import { Checkout } from "../../../../packages/tools/test/commands/support/checkout.js";

const there = "exports.main = async () => process.stdout.write('there\\n');";

describe("the entry point of an installed package", function () {
  this.timeout(60_000);
  let checkout: Checkout;
  const run = (...args: string[]) => checkout.run("automation/cli/stackadm.mjs", args);
  beforeEach(() => {
    checkout = new Checkout();
    rmSync(join(checkout.root, "packages"), { recursive: true });
  });
  afterEach(() => {
    checkout.remove();
  });

  // A checkout has both files. A package may have one: the compiler's settings or a folder `tools`.
  for (const missing of ["packages/tools/prepare-checkout.mjs", "tsconfig.build.json"])
    it(`runs the existing build and never starts a build if ${missing} is missing`, async () => {
      if (missing === "tsconfig.build.json") {
        rmSync(join(checkout.root, missing));
        checkout.take("packages/tools/prepare-checkout.mjs");
      }
      const { code, out, err } = await run();
      assert.deepEqual([code, out], [1, ""]);
      assert.match(err, /^error: \S+main\.js is missing: this package was not built\.\n$/);
      const { code: same, out: line } = await run("up", "--json");
      assert.equal(same, 1);
      const { type, code: name, message } = JSON.parse(line) as Record<string, unknown>;
      assert.deepEqual([type, name], ["error", "FAILED"]);
      assert.match(String(message), /main\.js is missing: this package was not built\.$/);
      checkout.put("dist/automation/cli/main.js", there);
      assert.equal((await run()).out, "there\n");
      assert.deepEqual(checkout.calls(), []);
      assert.ok(!existsSync(join(checkout.root, "node_modules")));
    });
});

describe("the entry point of the Pulumi program", function () {
  this.timeout(60_000);

  it("has at most thirty lines, and only exports a function", () => {
    const root = getPackageRoot();
    assert.ok(readFileSync(join(root, "index.ts"), "utf8").split("\n").length <= 31);
    const script = 'import program from "./index.js"; console.log(typeof program)';
    const words = ["--import", "tsx", "--input-type=module", "-e", script];
    const said = execFileSync("node", words, { cwd: root, encoding: "utf8" });
    assert.equal(said.trim(), "function");
  });
});

describe("the module graph of the command line", function () {
  this.timeout(60_000);
  let early: string[];
  let late: string[];
  before(() => {
    const script = `
      const { readdirSync } = require("node:fs");
      require("./automation/cli/main.ts").buildProgram();
      const loaded = () => Object.keys(require.cache);
      const early = loaded();
      for (const file of readdirSync("automation/cli").filter((name) => name.endsWith(".ts")))
        require("./automation/cli/" + file);
      console.log(JSON.stringify({ early, late: loaded() }));`;
    const words = ["--import", "tsx", "--input-type=commonjs", "-e", script];
    const said = execFileSync("node", words, { cwd: getPackageRoot(), encoding: "utf8" });
    ({ early, late } = JSON.parse(said) as { early: string[]; late: string[] });
  });
  const among = (loaded: readonly string[], parts: readonly string[]): string[] =>
    loaded.filter((path) => parts.some((part) => path.includes(part))).slice(0, 3);

  it("loads no command implementation or heavy dependency at the start, so that help and errors are fast", () => {
    const folders = ["openstack", "components", "packages", "automation/setup"];
    const ours = folders.map((name) => join(getPackageRoot(), name, "/"));
    const theirs = ["zod", "ssh2", "yaml"].map((name) => `/node_modules/${name}/`);
    assert.deepEqual(among(early, [...ours, ...theirs, "/cluster-service."]), []);
    assert.notDeepEqual(among(late, ["/cluster-service."]), []);
  });

  it("never loads Pulumi's SDK, which would add half a second to each command", () => {
    assert.deepEqual(among(late, ["/@pulumi/"]), []);
  });
});
