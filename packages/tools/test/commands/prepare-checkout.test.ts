import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { existsSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Checkout, compiler } from "./support/checkout.js";

describe("checkout", function () {
  this.timeout(60_000);
  let checkout: Checkout;
  beforeEach(() => {
    checkout = new Checkout();
  });
  afterEach(() => {
    checkout.remove();
  });
  const up = (env: NodeJS.ProcessEnv = {}, line = ["up", "--json"]) =>
    checkout.run("automation/cli/stackadm.mjs", line, env);
  const upForPeople = (env: NodeJS.ProcessEnv = {}) => up(env, ["up"]);
  const chore = (...args: string[]) => checkout.run("packages/tools/run.mjs", args);
  const install = "npm ci --include=dev --no-audit --no-fund";
  const compile = "tsc -p tsconfig.build.json";

  it("is installed and compiled before the command line first runs", async () => {
    const { code, out } = await up();
    assert.deepEqual({ code, out }, { code: 0, out: "ran up --json\n" });
    assert.deepEqual(checkout.calls(), [install, compile]);
    assert.equal(
      checkout.text("dist/components/machine/scripts/prepare/prepare.sh"),
      "echo prepare",
    );
  });

  it("is neither installed nor compiled the second time", async () => {
    await up();
    const before = checkout.calls().length;
    const { err } = await up();
    assert.equal(checkout.calls().length, before);
    assert.equal(err, "");
  });

  it("is compiled again without an installation if a source or script changed", async () => {
    await up();
    checkout.put("components/machine/scripts/prepare/prepare.sh", "echo changed");
    await up();
    assert.deepEqual(checkout.calls().slice(2), [compile]);
    assert.equal(
      checkout.text("dist/components/machine/scripts/prepare/prepare.sh"),
      "echo changed",
    );
  });

  it("is installed again if the lock file changed", async () => {
    await up();
    checkout.put("package-lock.json", '{"changed": true}');
    await up();
    assert.equal(checkout.calls().filter((call) => call.startsWith("npm")).length, 2);
  });

  it("counts as installed if the user installed it after the lock file changed", async () => {
    checkout.put("node_modules/.package-lock.json", "{}");
    checkout.put("node_modules/typescript/bin/tsc", compiler);
    utimesSync(join(checkout.root, "package-lock.json"), new Date(0), new Date(0));
    assert.equal((await up()).code, 0);
    assert.deepEqual(checkout.calls(), [compile]);
  });

  it("reports a failed installation in one sentence and stops", async () => {
    const { code, out, err } = await upForPeople({ NPM_FAILS: "1" });
    assert.deepEqual({ code, out }, { code: 1, out: "" });
    assert.match(err, /error: Installing the npm packages failed \(exit code 7\); see above\.\n$/);
  });

  it("reports a failed installation with --json as one JSON line", async () => {
    const { code, out } = await up({ NPM_FAILS: "1" });
    assert.equal(code, 1);
    assert.deepEqual(JSON.parse(out), {
      type: "error",
      code: "FAILED",
      message: "Installing the npm packages failed (exit code 7); see above.",
      hint: "Correct the cause and run the same command again.",
    });
  });

  it("reports a failed compilation in one sentence and retries the next time", async () => {
    checkout.put("index.ts", "broken");
    const { code, err } = await upForPeople();
    assert.equal(code, 1);
    assert.match(err, /index\.ts: broken\n.*Compiling the sources failed/);
    checkout.put("index.ts", "export {};");
    assert.equal((await up()).code, 0);
  });

  it("reports an unforeseen error in one sentence, and its stack with STACKADM_DEBUG=1", async () => {
    rmSync(join(checkout.root, "package-lock.json"));
    const { code, out, err } = await upForPeople();
    assert.deepEqual({ code, out }, { code: 1, out: "" });
    assert.match(
      err,
      /\nerror: Unexpected failure: ENOENT: [^\n]+\.\n {2}Run the same [^\n]+ STACKADM_DEBUG=1 [^\n]+\n$/,
    );
    assert.match(
      (await upForPeople({ STACKADM_DEBUG: "1" })).err,
      /\n {2}Run [^\n]+\n[^\n]+\n {4}at /,
    );
  });

  it("lets a second concurrent process wait for the first", async () => {
    const both = await Promise.all([up(), chore("test")]);
    assert.deepEqual(
      both.map(({ code }) => code),
      [0, 0],
    );
    assert.equal(checkout.calls().length, 2);
  });

  for (const [what, holder] of [
    ["an earlier release was stopped while it wrote its lock", ""],
    ["the holder was killed and another process has its ID", `${process.pid} 1`],
  ] as const)
    it(`ignores the lock if ${what}`, async () => {
      const digest = createHash("sha256").update(checkout.root).digest("hex").slice(0, 16);
      const lock = join(tmpdir(), `stackadm-${digest}.lock`);
      writeFileSync(lock, holder);
      const { code, err } = await up();
      assert.equal(code, 0);
      assert.doesNotMatch(err, /Waiting for process/);
      assert.ok(!existsSync(lock));
    });

  it("deletes the compiled files of deleted sources and scripts, because a package contains all files", async () => {
    await up();
    checkout.put("dist/components/gone.js");
    checkout.put("components/machine/scripts/more.sh", "echo more");
    await up();
    assert.equal(checkout.text("dist/components/machine/scripts/more.sh"), "echo more");
    assert.ok(!existsSync(join(checkout.root, "dist", "components", "gone.js")));
    rmSync(join(checkout.root, "components/machine/scripts/more.sh"));
    assert.equal((await up()).code, 0);
    assert.ok(!existsSync(join(checkout.root, "dist/components/machine/scripts/more.sh")));
    assert.equal(
      checkout.text("dist/components/machine/scripts/prepare/prepare.sh"),
      "echo prepare",
    );
  });

  it("is compiled for tests, but only installed for checks", async () => {
    const { code, out } = await chore("check", "--json");
    assert.deepEqual({ code, out }, { code: 0, out: "ran check --json\n" });
    assert.deepEqual(checkout.calls(), [install]);
    assert.equal((await chore("test", "unit", "--all")).out, "ran test unit --all\n");
    assert.deepEqual(checkout.calls(), [install, compile]);
  });

  it("is installed and compiled by `build` without running a command", async () => {
    const { code, out } = await chore("build");
    assert.deepEqual({ code, out }, { code: 0, out: "" });
    assert.deepEqual(checkout.calls(), [install, compile]);
    assert.equal(
      checkout.text("dist/components/machine/scripts/prepare/prepare.sh"),
      "echo prepare",
    );
  });

  it("reports in one sentence that `npm test` cannot be prepared", async () => {
    checkout.put("index.ts", "broken");
    const { code, out, err } = await chore("test");
    assert.deepEqual({ code, out }, { code: 1, out: "" });
    assert.match(err, /\nerror: Compiling the sources failed \(exit code 2\); see above\.\n$/);
  });
});
