import assert from "node:assert/strict";
import { rmSync } from "node:fs";
import { join } from "node:path";
import { Failure } from "../../../../base/failures/failure.js";
import { getPackageRoot } from "../../../../base/paths.js";
import { listChecks, listFilesWithSuffix, runChecks } from "../../check.js";
import { jsonLines } from "../../../../test/support/commands/test-user.js";
import { ended, recordedSession, Repository } from "./support/repository.js";

describe("listChecks", () => {
  it("covers every script of the project and no installed file", () => {
    const scripts = listFilesWithSuffix(getPackageRoot(), ".sh");
    assert.ok(scripts.length > 5);
    assert.ok(scripts.every((path) => !/node_modules|\/dist\//.test(path)));
  });

  it("covers format, types, lint, scripts and drivers", () => {
    const names = listChecks(getPackageRoot())
      .map(({ name }) => name)
      .join();
    for (const tool of ["prettier", "tsc", "eslint", "shellcheck", "shfmt", "flake8"])
      assert.ok(names.includes(tool), tool);
  });
});

describe("`npm run check`", function () {
  this.timeout(60_000);
  const { PATH } = process.env;
  let repository: Repository;
  const record = (name: string): string =>
    `#!/bin/sh\necho "${name} $*" >>"${repository.root}/checks"\n`;
  beforeEach(() => {
    repository = new Repository();
    for (const name of ["eslint", "tsc", "prettier"])
      repository.program(`node_modules/.bin/${name}`, record(name));
    for (const name of ["shellcheck", "shfmt", "flake8"])
      repository.program(`bin/${name}`, record(name));
    process.env["PATH"] = repository.path;
  });
  afterEach(() => {
    process.env["PATH"] = PATH;
    repository.remove();
  });
  const checked = (): string => repository.text("checks");

  it("runs every check with the checkout's scripts and reports success", async () => {
    repository.put("broken.sh", "echo");
    const session = recordedSession();
    assert.equal(await runChecks(repository.root, session), 0);
    assert.deepEqual([session.printed, session.notes], [["Everything is in order."], []]);
    for (const name of ["eslint", "tsc", "prettier", "shellcheck", "shfmt"])
      assert.match(checked(), new RegExp(`^${name} `, "m"));
    assert.match(checked(), /^shellcheck .*broken\.sh/m);
  });

  it("shows the output of a failed check, continues with the others and exits with 1", async () => {
    repository.program(
      "node_modules/.bin/tsc",
      `${record("tsc")}echo "a.ts: wrong"\necho "b.ts: wrong" >&2\nexit 2\n`,
    );
    repository.program("node_modules/.bin/prettier", `${record("prettier")}exit 1\n`);
    const { code, out, err } = await ended(repository.chores("check"));
    assert.deepEqual([code, out], [1, ""]);
    assert.match(
      err,
      /\n--- types \(tsc\)\n(a\.ts: wrong\nb\.ts: wrong|b\.ts: wrong\na\.ts: wrong)\n/,
    );
    assert.match(err, /\nerror: Failed: [^\n]*types \(tsc\)[^\n]*\.\n/);
    assert.match(err, /error: Failed: [^\n]*format \(prettier\)/);
    assert.match(checked(), /^shfmt /m);
  });

  it("returns failures with their output to callers", async () => {
    repository.program("bin/shfmt", "#!/bin/sh\necho diff; exit 1");
    const { code, out } = await ended(repository.chores("check", "--json"));
    assert.equal(code, 1);
    const [result, error] = jsonLines(out).slice(-2);
    assert.deepEqual(result, {
      type: "result",
      ok: false,
      failures: [{ name: "script format (shfmt)", output: "diff" }],
    });
    assert.equal(error?.["type"], "error");
  });

  it("reports a tool that cannot be started as failed, by name", async () => {
    rmSync(join(repository.root, "node_modules", ".bin", "eslint"));
    const session = recordedSession();
    await assert.rejects(runChecks(repository.root, session), (error) => {
      assert.ok(error instanceof Failure);
      assert.deepEqual([error.exitCode, error.message], [1, "Failed: lint (eslint)."]);
      return true;
    });
    assert.match(
      session.notes.join("\n"),
      /^\n--- lint \(eslint\)\n[^\n]*eslint' is not installed/,
    );
  });

  it("stops the running check on Ctrl-C and exits with 130", async () => {
    const started = join(repository.root, "started");
    repository.program(
      "node_modules/.bin/eslint",
      `#!/bin/sh\necho $$ >"${started}"\nexec sleep 60`,
    );
    const child = repository.chores("check");
    const all = ended(child);
    const pid = await repository.appears("started");
    child.kill("SIGINT");
    const { code, out, err } = await all;
    assert.deepEqual([code, out], [130, ""]);
    assert.match(err, /\nerror: Stopped on request\./);
    assert.throws(() => process.kill(Number(pid), 0), { code: "ESRCH" });
  });
});
