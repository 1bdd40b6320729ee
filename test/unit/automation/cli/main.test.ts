import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { run } from "../../../../base/run-command.js";
import { jsonLines, lastLine, Operator } from "../../../support/commands/test-user.js";

describe("command line", function () {
  this.timeout(120_000);
  let operator: Operator;
  before(() => {
    operator = new Operator();
  });
  after(() => {
    operator.remove();
  });
  afterEach(() => {
    assert.deepEqual(operator.engine.operations(), []);
    assert.deepEqual(operator.leftovers(), []);
  });

  it("prints the package's version", async () => {
    const { version } = JSON.parse(
      readFileSync(join(operator.package, "package.json"), "utf8"),
    ) as { version: string };
    assert.deepEqual(await operator.start(["--version"]).ended, {
      code: 0,
      out: `${version}\n`,
      err: "",
    });
  });

  it("prints requested help to standard output with exit code 0", async () => {
    for (const args of [["--help"], ["help", "up"], ["up", "--help"]]) {
      const { code, out, err } = await operator.run(...args);
      assert.deepEqual([code, err], [0, ""], args.join(" "));
      assert.match(out, /^Usage: stackadm/);
    }
  });

  const usage: [string, string[], RegExp][] = [
    ["no command", [], /^Usage: stackadm \[options\] \[command\]/],
    ["an unknown command", ["upp"], /^error: unknown command 'upp'\n\(Did you mean up\?\)/],
    ["an unknown option", ["up", "--forse"], /^error: unknown option '--forse'/],
    ["an option of another command", ["status", "--delete"], /unknown option '--delete'/],
    ["an option without its value", ["orphans", "--cluster"], /argument missing/],
    ["too many words", ["destroy", "everything"], /^error: too many arguments for 'destroy'/],
  ];
  for (const [what, args, said] of usage)
    it(`exits with 2 for ${what} and reports the reason on standard error`, async () => {
      const { code, out, err } = await operator.run(...args);
      assert.deepEqual([code, out], [2, ""]);
      assert.match(err, said);
    });

  for (const [what, args] of usage)
    it(`reports the error only as a JSON line with --json: ${what}`, async () => {
      const { code, out, err } = await operator.run(...args, "--json");
      assert.deepEqual([code, err], [2, ""]);
      const [line, ...more] = jsonLines(out);
      assert.deepEqual(more, []);
      const { type, code: name, message, hint } = line ?? {};
      assert.deepEqual([type, name], ["error", "INVALID_USAGE"]);
      assert.match(String(message), /^[A-Z][^\n]+\.$/);
      assert.match(String(hint), /--help/);
    });

  it("fails without a cloud before preparing anything, with one sentence and one hint", async () => {
    for (const command of [["up"], ["destroy", "--yes"], ["doctor"], ["orphans"]]) {
      const { code, out, err } = await operator.run(...command);
      assert.deepEqual([code, out], [2, ""], command[0]);
      assert.match(
        err,
        /^\nerror: No cloud is configured: [^\n]+\n {2}Name an entry of clouds\.yaml [^\n]+\n {2}CLOUD_NOT_CONFIGURED: [^\n]+\n$/,
      );
    }
    assert.deepEqual(operator.engine.calls(), []);
  });

  it("reports the missing cloud only as a JSON line with --json", async () => {
    const { code, out, err } = await operator.run("up", "--json");
    assert.deepEqual([code, err], [2, ""]);
    const [line, ...more] = jsonLines(out);
    assert.deepEqual(more, []);
    assert.deepEqual([line?.["type"], line?.["code"]], ["error", "CLOUD_NOT_CONFIGURED"]);
    assert.match(String(line?.["message"]), /^No cloud is configured/);
  });

  const cloud = { OS_AUTH_URL: "http://127.0.0.1:1" };
  it("accepts global options before and after the command", async () => {
    for (const args of [
      ["--json", "--stack", "missing", "status"],
      ["status", "--json", "-s", "missing"],
    ]) {
      const { code, out } = await operator.runWith(cloud, ...args);
      assert.equal(code, 2);
      const { message, hint } = lastLine(out);
      assert.match(String(message), /^There is no .*Pulumi\.missing\.yaml\.$/);
      assert.match(String(hint), /Copy Pulumi\.dev\.yaml to Pulumi\.missing\.yaml/);
    }
  });

  it("refuses a stack name that is a path", async () => {
    const { code, err } = await operator.runWith(cloud, "destroy", "--yes", "-s", "../dev");
    assert.equal(code, 2);
    assert.match(err, /^\nerror: "\.\.\/dev" is not the name of a stack\.\n/);
  });

  it("reports all problems of a stack file at once", async () => {
    const settings = "config:\n  stackadm:cluster:\n    image: 7\n    allowedCidrs: [everywhere]\n";
    writeFileSync(join(operator.package, "Pulumi.wrong.yaml"), settings);
    const { code, err } = await operator.runWith(cloud, "up", "--stack", "wrong");
    assert.equal(code, 2);
    assert.match(err, /^State: [^\n]+\n\nerror: Pulumi\.wrong\.yaml is not valid:\n/);
    for (const path of ["image", "allowedCidrs.0", "externalNetwork", "controlPlane", "workers"])
      assert.match(err, new RegExp(`^ +cluster\\.${path.replace(".", "\\.")}: `, "m"));
    assert.match(err, /nothing was changed\.\n {2}INVALID_CONFIG: [^\n]+\n$/);
  });

  it("reports the position of a YAML error in the stack file", async () => {
    writeFileSync(join(operator.package, "Pulumi.broken.yaml"), "config:\n  a: [1, 2\n  b: }\n");
    for (const command of [["up"], ["destroy", "--yes"]]) {
      const { code, err } = await operator.runWith(cloud, ...command, "--stack", "broken");
      assert.equal(code, 2, err);
      assert.match(
        err,
        /^\nerror: \S+\/Pulumi\.broken\.yaml is not YAML: [^\n]+ at line 3, column \d+\.\n/,
      );
    }
  });

  it("refuses missing site defaults and reports the variable", async () => {
    for (const file of ["/nowhere/site.yaml", join(operator.package, "package.json", "x")]) {
      const { code, err } = await operator.runWith({ ...cloud, STACKADM_SITE: file }, "doctor");
      assert.equal(code, 2);
      assert.match(
        err,
        /^State: [^\n]+\n\nerror: The environment is not valid:\n {2}STACKADM_SITE: [^\n]+\n/,
      );
      assert.ok(err.includes(file));
    }
  });

  it("ignores a closed output pipe", async () => {
    const main = join(operator.package, "dist", "automation", "cli", "main.js");
    const script = `{ "$0" "$1" toolchain; echo "code $?" >&2; } | true`;
    const { stderr } = await run("sh", ["-c", script, process.execPath, main], {
      env: operator.environment(),
    });
    assert.equal(stderr, "code 0\n");
  });

  const unforeseen = /^\n?error: Unexpected failure: E[A-Z]+: [^\n]+\.\n {2}Run the same [^\n]+\n$/;
  const traced = /^\n?error: Unexpected failure: [^\n]+\n {2}[^\n]+\n(.*\n)* {4}at /;

  it("reports an unforeseen error in one sentence, even before a command runs", async () => {
    const file = join(operator.package, "package.json");
    const text = readFileSync(file);
    rmSync(file);
    try {
      const { code, out, err } = await operator.run("--version");
      assert.deepEqual([code, out], [1, ""]);
      assert.match(err, unforeseen);
      assert.match((await operator.runWith({ STACKADM_DEBUG: "1" }, "--help")).err, traced);
      const { type, code: name } = lastLine((await operator.run("up", "--json")).out);
      assert.deepEqual([type, name], ["error", "FAILED"]);
    } finally {
      writeFileSync(file, text);
    }
  });

  it("reports in one sentence that the result cannot be written", async () => {
    const main = join(operator.package, "dist", "automation", "cli", "main.js");
    const write = (env: NodeJS.ProcessEnv) =>
      run("sh", ["-c", `"$0" "$1" toolchain >/dev/full`, process.execPath, main], {
        env: { ...operator.environment(), ...env },
        accept: [1],
      });
    assert.match((await write({})).stderr, unforeseen);
    assert.match((await write({ STACKADM_DEBUG: "1" })).stderr, traced);
  });

  it("reports an unreachable cloud with its address and exit code 3", async () => {
    const { code, err } = await operator.runWith(
      { ...cloud, OS_USERNAME: "u", OS_PASSWORD: "a-long-password", OS_PROJECT_NAME: "p" },
      "orphans",
    );
    assert.equal(code, 3);
    assert.match(err, /127\.0\.0\.1:1/);
    assert.doesNotMatch(err, /a-long-password| at .*\.js:/);
  });
});
