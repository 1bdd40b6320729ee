import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { packageRoot } from "../../../../automation/cluster/workspace.js";

/** Stands for npm: notes that it ran and makes a compiler that copies one file. */
const npm = `#!/bin/sh
echo "npm $*" >>"$CALLS"
[ -z "$NPM_FAILS" ] || exit 7
mkdir -p node_modules/typescript/bin
cp "$COMPILER" node_modules/typescript/bin/tsc
`;
const compiler = `
const fs = require("node:fs");
fs.appendFileSync(process.env.CALLS, "tsc " + process.argv.slice(2).join(" ") + "\\n");
if (fs.readFileSync("index.ts", "utf8").includes("broken")) { console.error("index.ts: broken"); process.exit(2); }
fs.mkdirSync("dist/automation/cli", { recursive: true });
fs.writeFileSync("dist/automation/cli/main.js", "exports.main = async (a) => { process.stdout.write('ran ' + a.join(' ') + '\\\\n'); };");
`;

describe("the entry", () => {
  let root: string;
  let calls: string;
  const put = (path: string, text: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  };
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "entry-"));
    calls = join(root, "calls");
    writeFileSync(calls, "");
    put("bin/npm", npm);
    chmodSync(join(root, "bin", "npm"), 0o755);
    put("compiler.js", compiler);
    put("package-lock.json", "{}");
    put("tsconfig.build.json", "{}");
    put("index.ts", "export {};");
    put("components/machine/scripts/prepare.sh", "echo prepare");
    mkdirSync(join(root, "automation", "cli"), { recursive: true });
    const entry = join("automation", "cli", "stackadm.mjs");
    copyFileSync(join(packageRoot(), entry), join(root, entry));
  });
  afterEach(() => {
    rmSync(root, { recursive: true });
  });

  const run = async (env: Readonly<Record<string, string>> = {}) => {
    const child = spawn(
      process.execPath,
      [join(root, "automation", "cli", "stackadm.mjs"), "up", "--json"],
      {
        env: {
          ...process.env,
          NODE_OPTIONS: "",
          PATH: `${join(root, "bin")}${delimiter}${process.env["PATH"] ?? ""}`,
          CALLS: calls,
          COMPILER: join(root, "compiler.js"),
          ...env,
        },
        stdio: ["ignore", "pipe", "pipe"],
      },
    );
    let [out, err] = ["", ""];
    child.stdout.on("data", (part: Buffer) => (out += part.toString()));
    child.stderr.on("data", (part: Buffer) => (err += part.toString()));
    const code = await new Promise<number | null>((done) => child.once("close", done));
    return { code, out, err };
  };
  const called = (): string[] => readFileSync(calls, "utf8").trim().split("\n").filter(Boolean);

  it("installs, compiles and runs in a fresh checkout", async () => {
    const { code, out } = await run();
    assert.deepEqual({ code, out }, { code: 0, out: "ran up --json\n" });
    assert.deepEqual(called(), [
      "npm ci --include=dev --no-audit --no-fund",
      "tsc -p tsconfig.build.json",
    ]);
    assert.equal(
      readFileSync(join(root, "dist/components/machine/scripts/prepare.sh"), "utf8"),
      "echo prepare",
    );
  });

  it("does neither the second time", async () => {
    await run();
    const before = called().length;
    const { err } = await run();
    assert.equal(called().length, before);
    assert.equal(err, "");
  });

  it("compiles again when a source or a script changed, without installing", async () => {
    await run();
    put("components/machine/scripts/prepare.sh", "echo changed");
    await run();
    assert.deepEqual(called().slice(2), ["tsc -p tsconfig.build.json"]);
    const copy = join(root, "dist/components/machine/scripts/prepare.sh");
    assert.equal(readFileSync(copy, "utf8"), "echo changed");
  });

  it("installs again when the lock file changed", async () => {
    await run();
    put("package-lock.json", '{"changed": true}');
    await run();
    assert.equal(called().filter((call) => call.startsWith("npm")).length, 2);
  });

  it("believes an installation that was made by hand after the lock file", async () => {
    put("node_modules/.package-lock.json", "{}");
    put("node_modules/typescript/bin/tsc", compiler);
    utimesSync(join(root, "package-lock.json"), new Date(0), new Date(0));
    assert.equal((await run()).code, 0);
    assert.deepEqual(called(), ["tsc -p tsconfig.build.json"]);
  });

  it("says in one sentence that installing failed, and does not go on", async () => {
    const { code, out, err } = await run({ NPM_FAILS: "1" });
    assert.deepEqual({ code, out }, { code: 1, out: "" });
    assert.match(err, /error: Installing the npm packages failed \(exit code 7\); see above\.\n$/);
  });

  it("says in one sentence that the sources do not compile, and tries again the next time", async () => {
    put("index.ts", "broken");
    const { code, err } = await run();
    assert.equal(code, 1);
    assert.match(err, /index\.ts: broken\n.*Compiling the sources failed/);
    put("index.ts", "export {};");
    assert.equal((await run()).code, 0);
  });

  it("lets one process work and the other wait", async () => {
    const both = await Promise.all([run(), run()]);
    assert.deepEqual(
      both.map(({ code }) => code),
      [0, 0],
    );
    assert.equal(called().length, 2);
  });

  it("only runs what is there in an installed package", async () => {
    rmSync(join(root, "tsconfig.build.json"));
    const missing = await run();
    assert.equal(missing.code, 1);
    assert.match(missing.err, /main\.js is missing: this package was not built/);
    put(
      "dist/automation/cli/main.js",
      "exports.main = async () => process.stdout.write('there\\n');",
    );
    assert.equal((await run()).out, "there\n");
    assert.deepEqual(called(), []);
    assert.ok(!existsSync(join(root, "node_modules")));
  });
});
