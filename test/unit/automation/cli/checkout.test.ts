import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { lastLine, Operator } from "../../../support/operator.js";

describe("a command for those who work on stackadm", function () {
  this.timeout(120_000);
  let operator: Operator;
  const put = (path: string, text: string): void => {
    const file = join(operator.package, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text, { mode: 0o755 });
  };
  beforeEach(() => {
    operator = new Operator();
    put("tsconfig.json", "{}");
  });
  afterEach(() => {
    for (const path of ["tsconfig.json", "node_modules", "test", "broken.sh"])
      rmSync(join(operator.package, path), { recursive: true, force: true });
    operator.remove();
  });

  it("is refused by an installed package, in a sentence", async () => {
    rmSync(join(operator.package, "tsconfig.json"));
    for (const command of ["check", "test"]) {
      const { code, out, err } = await operator.run(command);
      assert.deepEqual([code, out], [1, ""]);
      assert.match(err, /^error: This is an installed package: [^\n]+\n$/);
    }
  });

  describe("`stackadm check`", () => {
    const record = (name: string): string =>
      `#!/bin/sh\necho "${name} $*" >>"$FAKE_ENGINE/checks"\n`;
    beforeEach(() => {
      for (const name of ["eslint", "tsc", "prettier"])
        put(`node_modules/.bin/${name}`, record(name));
      for (const name of ["shellcheck", "shfmt", "flake8"])
        operator.engine.command(name, record(name));
    });
    const checked = (): string => readFileSync(join(operator.engine.directory, "checks"), "utf8");

    it("runs every check, with the scripts of the checkout, and says that all is in order", async () => {
      put("broken.sh", "echo");
      const { code, out } = await operator.run("check");
      assert.deepEqual([code, out], [0, "Everything is in order.\n"]);
      for (const name of ["eslint", "tsc", "prettier", "shellcheck", "shfmt"])
        assert.match(checked(), new RegExp(`^${name} `, "m"));
      assert.match(checked(), /^shellcheck .*broken\.sh/m);
    });

    it("shows all that a failed check printed, goes on with the others, and ends with 1", async () => {
      put(
        "node_modules/.bin/tsc",
        `${record("tsc")}echo "a.ts: wrong"\necho "b.ts: wrong" >&2\nexit 2\n`,
      );
      put("node_modules/.bin/prettier", `${record("prettier")}exit 1\n`);
      const { code, out, err } = await operator.run("check");
      assert.deepEqual([code, out], [1, ""]);
      assert.match(
        err,
        /\n--- types \(tsc\)\n(a\.ts: wrong\nb\.ts: wrong|b\.ts: wrong\na\.ts: wrong)\n/,
      );
      assert.match(err, /\nerror: Failed: [^\n]*types \(tsc\)[^\n]*\.\n$/);
      assert.match(err, /error: Failed: [^\n]*format \(prettier\)/);
      assert.match(checked(), /^shfmt /m);
    });

    it("gives programs the failures with their output", async () => {
      operator.engine.command("shfmt", "echo diff; exit 1");
      const { code, out } = await operator.run("check", "--json");
      assert.equal(code, 1);
      const lines = out.trimEnd().split("\n");
      const result = JSON.parse(lines.at(-2) ?? "") as Record<string, unknown>;
      assert.deepEqual(result, {
        type: "result",
        ok: false,
        failures: [{ name: "script format (shfmt)", output: "diff" }],
      });
      assert.equal(lastLine(out)["type"], "error");
    });

    it("counts a tool that cannot be started as failed, by name", async () => {
      rmSync(join(operator.package, "node_modules", ".bin", "eslint"));
      const { code, err } = await operator.run("check");
      assert.equal(code, 1);
      assert.match(err, /\n--- lint \(eslint\)\n[^\n]*eslint' is not installed/);
    });
  });

  describe("`stackadm test`", () => {
    const runner = `require("node:fs").writeFileSync(process.env.FAKE_ENGINE + "/test",
      JSON.stringify({ args: process.argv.slice(2), cwd: process.cwd() }));
      process.exitCode = process.argv.includes("graph") ? 1 : 0;`;
    beforeEach(() => {
      put("test/run.ts", runner);
    });
    const seen = (): unknown => {
      const file = join(operator.engine.directory, "test");
      return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
    };

    it("passes tiers and --all on, and runs in the checkout wherever it is called", async () => {
      const { code } = await operator.run("test", "unit", "lab", "--all");
      assert.equal(code, 0);
      assert.deepEqual(seen(), { args: ["unit", "lab", "--all"], cwd: operator.package });
    });

    it("ends with the exit code of the tests", async () => {
      assert.equal((await operator.run("test", "graph")).code, 1);
    });
  });
});
