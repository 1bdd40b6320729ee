import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { getPackageRoot } from "../../../../base/paths.js";
import { run } from "../../../../base/run-command.js";

const home = join(getPackageRoot(), "packages", "lab");
const { version } = JSON.parse(readFileSync(join(home, "package.json"), "utf8")) as {
  readonly version: string;
};

describe("packed lab, installed without the product", function () {
  this.timeout(300_000);
  const directory = mkdtempSync(join(tmpdir(), "stackadm-packed-lab-"));
  const modules = join(directory, "node_modules");
  const installed = join(modules, "@stackadm", "lab");
  const options = { cwd: directory, env: { ...process.env, NODE_OPTIONS: "" } };

  before(async () => {
    await run("npm", ["run", "build"], { cwd: getPackageRoot() });
    await run("npm", ["pack", "--ignore-scripts", "--pack-destination", directory], { cwd: home });
    writeFileSync(join(directory, "package.json"), "{}");
    const words = ["--prefix", directory, "--no-audit", "--no-fund", "--prefer-offline"];
    await run("npm", ["install", ...words, `./stackadm-lab-${version}.tgz`], options);
  });
  after(() => {
    rmSync(directory, { recursive: true, force: true });
  });

  it("installs neither the product nor Pulumi", () => {
    const names = readdirSync(modules).filter((name) => !name.startsWith("."));
    assert.deepEqual(names.sort(), ["@stackadm", "commander", "ip-address", "yaml", "zod"]);
    assert.deepEqual(readdirSync(join(modules, "@stackadm")), ["lab"]);
  });

  it("contains drivers, scripts and programs next to the compiled files, and no tests", () => {
    const compiled = join(installed, "dist", "packages", "lab");
    for (const file of [
      ...["drivers/labdriver/compute/nova.py", "cloud/first-boot.sh", "image/99-lab.cfg"],
      ...["kubernetes/programs/livenessprobe/main.go", "machines/upload_images.py"],
    ])
      assert.deepEqual(readFileSync(join(compiled, file)), readFileSync(join(home, file)), file);
    const files = readdirSync(installed, { recursive: true, encoding: "utf8" });
    assert.deepEqual(
      files.filter((file) => /(?<!\.d)\.ts$|\.map$|tsconfig|\.stamp$|\btests?\b/.test(file)),
      [],
    );
    assert.ok(!existsSync(join(compiled, "package.json")));
  });

  it("has a command line and an interface for programs", async () => {
    const help = await run("npx", ["--no-install", "stackadm-lab", "--help"], options);
    assert.match(help.stdout, /^Usage: stackadm-lab \[options\] \[command\]\n/);
    const shown = await run("npx", ["--no-install", "stackadm-lab", "--version"], options);
    assert.equal(shown.stdout, `${version}\n`);
    const script = 'console.log(Object.keys(require("@stackadm/lab")).sort().join(" "))';
    const { stdout } = await run(process.execPath, ["-e", script], options);
    assert.equal(stdout, "extraNames labAdd labDown labStatus labUp silentProgress\n");
  });
});
